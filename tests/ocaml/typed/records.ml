(* Records of every kind. *)
open Truth

let times n make = List.init n make
let text i = "text " ^ string_of_int i

type point = { x : float; y : float }
type mixed = { weight : float; count : int }
type moving = { mutable where : float; mutable speed : float }
type entry = { at : int; what : string }
type account = { owner : string; mutable balance : float; mutable history : entry list }
type flags = { a : int; b : bool; c : char }
type label = { label_text : string } [@@unboxed]
type cells = Cells of int list [@@unboxed]
type ('k, 'v) chain = { key : 'k; value : 'v; rest : ('k, 'v) chain option }
type poly = { measure : 'a. 'a list -> int; names : string list }
type 'a bag = { items : 'a array; mutable filled : int }
type 'a holder = { held : 'a }
type loop = { mutable self : loop option; called : string }
type 'a marked = { mark : string } (* 'a is in no value *)
type 'a inner = { of_list : 'b } constraint 'a = 'b list
type rose = { name : string; children : rose list }
type department = { title : string; mutable staff : employee list }
and employee = { surname : string; department : department; salary : salary option }
and salary = { amount : float; currency : string }
type wide = {
  w1 : string; w2 : string list; w3 : int; w4 : float; w5 : entry; w6 : string option; w7 : point;
  w8 : int array; w9 : bytes; w10 : wide option; w11 : (string * int) list; w12 : unit;
}
type coin = private { face : string; worth : int }
type 'a ph = string list
type 'a guarded = { guard : 'a -> bool; subject : 'a }

let point_t : point ty = typ "Records.point" (fun { x; y } -> ignore (x +. y); [])
let mixed_t = typ "Records.mixed" (fun { weight; count } -> [ weight @: float; count @: int ])
let moving_t : moving ty = typ "Records.moving" (fun _ -> [])
let entry_t = typ "Records.entry" (fun { at; what } -> [ at @: int; what @: string ])

let account_t =
  typ "Records.account" (fun { owner; balance; history } ->
      [ owner @: string; balance @: float; history @: list entry_t ])

let flags_t = typ "Records.flags" (fun { a; b; c } -> [ a @: int; b @: bool; c @: char ])
let label_t = unboxed string (fun { label_text } -> label_text) (opaque "Records.label")
let cells_t = unboxed (list int) (fun (Cells l) -> l) (opaque "Records.cells")

let rec chain_t : 'k 'v. 'k ty -> 'v ty -> ('k, 'v) chain ty =
 fun k v ->
  typ2 "Records.chain" k v (fun { key; value; rest } ->
      [ key @: k; value @: v; rest @: option (chain_t k v) ])

let poly_t = typ "Records.poly" (fun { names; _ } -> [ names @: list string ])
let bag_t a = typ1 "Records.bag" a (fun { items; filled } -> [ items @: array a; filled @: int ])
let holder_t a = typ1 "Records.holder" a (fun { held } -> [ held @: a ])

let rec loop_t : loop ty Lazy.t =
  lazy (typ "Records.loop" (fun { self; called } -> [ self @: option (Lazy.force loop_t); called @: string ]))

let marked_t (a : 'a ty) : 'a marked ty = typ1 "Records.marked" a (fun { mark } -> [ mark @: string ])
let inner_t (b : 'b ty) : 'b list inner ty = typ1 "Records.inner" (list b) (fun { of_list } -> [ of_list @: b ])

let rec rose_t =
  lazy (typ "Records.rose" (fun { name; children } -> [ name @: string; children @: list (Lazy.force rose_t) ]))

let salary_t = typ "Records.salary" (fun { amount; currency } -> [ amount @: float; currency @: string ])

let rec department_t =
  lazy
    (typ "Records.department" (fun { title; staff } ->
         [ title @: string; staff @: list (Lazy.force employee_t) ]))

and employee_t =
  lazy
    (typ "Records.employee" (fun { surname; department; salary } ->
         [ surname @: string; department @: Lazy.force department_t; salary @: option salary_t ]))

let rec wide_t =
  lazy
    (typ "Records.wide" (fun w ->
         [
           w.w1 @: string; w.w2 @: list string; w.w3 @: int; w.w4 @: float; w.w5 @: entry_t;
           w.w6 @: option string; w.w7 @: point_t; w.w8 @: array int; w.w9 @: bytes;
           w.w10 @: option (Lazy.force wide_t); w.w11 @: list (pair string int); w.w12 @: unit;
         ]))

let ph_t : int ph ty = list string
let guarded_t a = typ1 "Records.guarded" a (fun { guard; subject } -> [ guard @: (a --> bool); subject @: a ])

let entry i = { at = i; what = text i }
let points = times 100 (fun i -> { x = float_of_int i; y = 0.5 })
let mixed = times 100 (fun i -> { weight = float_of_int i; count = i })
let moving = Array.init 100 (fun i -> { where = float_of_int i; speed = 1. })

let accounts : (string, account) Hashtbl.t = Hashtbl.create 7

let () =
  for i = 1 to 60 do
    let account = { owner = text i; balance = float_of_int i; history = [] } in
    account.history <- times (i mod 5) entry;
    account.balance <- account.balance +. 1.;
    Hashtbl.replace accounts account.owner account
  done

let flags = times 10 (fun i -> { a = i; b = i > 5; c = 'c' })
let labels = times 50 (fun i -> { label_text = text i })
let cells = times 20 (fun i -> Cells (times (i mod 4) Fun.id))
let first_cells = Cells (times 3 Fun.id)

let rec chain n =
  if n = 0 then None else Some { key = text n; value = { held = float_of_int n }; rest = chain (n - 1) }

let chained = chain 50
let polys = times 10 (fun i -> { measure = List.length; names = times 2 (fun k -> text (i + k)) })
let float_bag = { items = Array.init 10 float_of_int; filled = 10 }
let string_bags = ref (times 10 (fun i -> { items = Array.init i text; filled = i }))
let nested_bag = { items = Array.init 5 (fun i -> { items = [| Some i |]; filled = 1 }); filled = 5 }
let held_floats = times 10 (fun i -> { held = float_of_int i })
let held_held = { held = { held = { held = text 1 } } }

let looping =
  let r = { self = None; called = text 7 } in
  r.self <- Some r;
  r

let marked_int : int marked = { mark = text 1 }
let marked_lists : string list marked list = times 5 (fun i -> { mark = text i })
let inner : string list inner = { of_list = text 3 }

let rec rose depth = { name = text depth; children = (if depth = 0 then [] else times 3 (fun _ -> rose (depth - 1))) }
let roses = rose 4

let departments =
  times 5 (fun i ->
      let department = { title = text i; staff = [] } in
      department.staff <-
        times 8 (fun k ->
            {
              surname = text k;
              department;
              salary = (if k mod 3 = 0 then None else Some { amount = float_of_int k; currency = text k });
            });
      department)

let rec wide n =
  {
    w1 = text n; w2 = times 3 text; w3 = n; w4 = float_of_int n; w5 = entry n;
    w6 = (if n mod 2 = 0 then Some (text n) else None); w7 = { x = 1.; y = float_of_int n };
    w8 = Array.init 5 Fun.id; w9 = Bytes.make (n + 1) 'b';
    w10 = (if n = 0 then None else Some (wide (n - 1))); w11 = times 2 (fun i -> (text i, i)); w12 = ();
  }

let widest = wide 20

module Mint : sig
  val strike : int -> coin
end = struct
  external as_coin : string * int -> coin = "%identity"

  let strike i = as_coin (text i, i)
end

let coin_t = typ "Records.coin" (fun { face; worth } -> [ face @: string; worth @: int ])
let coins = times 10 Mint.strike
let phantom : int ph = times 5 text
let guarded = times 5 (fun i -> { guard = (fun s -> s = text i); subject = text i })
let updated = List.map (fun w -> { w with w3 = 1; w10 = None }) (times 5 wide)

let () =
  known (list point_t) points;
  known (list mixed_t) mixed;
  known (array moving_t) moving;
  known (hashtbl string account_t) accounts;
  known (list flags_t) flags;
  known (list label_t) labels;
  known (list cells_t) cells;
  known cells_t first_cells;
  known (option (chain_t string (holder_t float))) chained;
  known (list poly_t) polys;
  known (bag_t float) float_bag;
  known (reference (list (bag_t string))) string_bags;
  known (bag_t (bag_t (option int))) nested_bag;
  known (list (holder_t float)) held_floats;
  known (holder_t (holder_t (holder_t string))) held_held;
  known (Lazy.force loop_t) looping;
  known (marked_t int) marked_int;
  known (list (marked_t (list string))) marked_lists;
  known (inner_t string) inner;
  known (Lazy.force rose_t) roses;
  known (list (Lazy.force department_t)) departments;
  known (Lazy.force wide_t) widest;
  known (list coin_t) coins;
  known ph_t phantom;
  known (list (guarded_t string)) guarded;
  known (list (Lazy.force wide_t)) updated;
  report ()

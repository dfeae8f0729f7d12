(* What is easily typed wrongly, one case after another; expected.tsv says what is right.  The numbers
   are those of the table there. *)
open Roots

let opaque = Sys.opaque_identity
let text i = String.make 2 (Char.chr (Char.code 'a' + i))

(* 1: constant constructors within lists. *)
let t1 = opaque [ Some (opaque 4); None ]
let () = root "1" t1

(* 2, 3: unboxed types are their contents in memory. *)
type tag_line = { words : string } [@@unboxed]

let t2 = opaque [ { words = text 1 } ]
let () = root "2" t2; root "2.element" (List.hd t2)

type chain = Chain of int list [@@unboxed]

let t3 = opaque (Chain (opaque [ 5; 6 ]), 7)
let () = root "3" t3; root "3.cell" (fst t3); root "3.tail" (match fst t3 with Chain l -> List.tl l)

(* 4, 5, 6: floats in records and arrays. *)
type plane = { width : float; height : float }

let t4 = opaque [ { width = opaque 1.5; height = opaque 2.5 } ]
let () = root "4" t4; root "4.element" (List.hd t4)

type half = { ratio : float; number : int }

let t5 = opaque [ { ratio = opaque 0.5; number = 3 } ]
let () = root "5" t5; root "5.element" (List.hd t5); root "5.ratio" (Obj.field (Obj.repr (List.hd t5)) 0)
let t6 = (Array.make 2 (opaque 1.), Array.make 2 (text 1), (opaque [||] : string array))
let () = root "6" t6; root "6.floats" (let a, _, _ = t6 in a); root "6.strings" (let _, a, _ = t6 in a)

(* 7, 8: lazy values. *)
let t7 = opaque (let delayed = lazy (text 7) in ignore (Lazy.force delayed); delayed)
let t7_list = opaque [ (let delayed = lazy (opaque [ text 8 ]) in ignore (Lazy.force delayed); delayed) ]
let () = root "7" t7; root "7.list" t7_list; root "7.element" (List.hd t7_list)

let t8 =
  opaque
    (let names = opaque [ text 9 ] in
     root "8.captured" names;
     lazy (List.length names))

let () = root "8" t8

(* 9, 10: existentials and GADTs. *)
type packet = Packet : 'a * ('a -> string) -> packet

let t9 = opaque [ Packet (opaque [ opaque 1 ], fun _ -> "list"); Packet (text 2, Fun.id) ]
let () = root "9" t9; root "9.string" (match t9 with [ _; Packet (s, _) ] -> Obj.repr s | _ -> assert false)

type _ form =
  | Whole : int -> int form
  | Words : string -> string form
  | Couple : 'a form * 'b form -> ('a * 'b) form
  | Series : 'a list -> 'a list form

let t10 = opaque (Couple (Whole (opaque 1), Couple (Words (text 1), Series (opaque [ text 2 ]))))

let () =
  root "10" t10;
  match t10 with
  | Couple (a, Couple (b, c)) ->
    root "10.first" a;
    root "10.second" b;
    root "10.third" c

(* 11, 12: where arguments of constructors are. *)
let t11 = opaque [ `A (text 1); `B (opaque 1, text 2); `C ]

let () =
  root "11" t11;
  match t11 with
  | `A _ :: (`B both as b) :: _ -> root "11.variant" b; root "11.argument" both
  | _ -> assert false

type notice = Silent | Spoken of { words : string; mutable by : int list } | Written of string

let t12 = opaque [ Spoken { words = text 1; by = opaque [ 1 ] }; Written (text 2); Silent ]
let () = root "12" t12; root "12.element" (List.hd t12)

(* 13, 14: exceptions and other extensible types. *)
exception Lost of string * int list

let t13 = opaque [ Not_found; Failure (text 1); Lost (text 2, opaque [ 1 ]) ]

let () =
  root "13" t13;
  root "13.constant" (List.hd t13);
  root "13.own" (List.nth t13 2);
  match List.nth t13 2 with Lost (_, l) -> root "13.argument" l | _ -> assert false

type signal = ..
type signal += Ring of string | Flash of { times : int list } | Quiet

let t14 = opaque [ Ring (text 1); Flash { times = opaque [ 1 ] }; Quiet ]
let () = root "14" t14; root "14.inline" (List.nth t14 1); root "14.constant" (List.nth t14 2)

(* 15, 16, 17: what the standard library hides. *)
let t15 : (string, int list) Hashtbl.t = Hashtbl.create 2
let () = Hashtbl.replace t15 (text 1) (opaque [ 1; 2 ]); root "15" t15

module Words = Map.Make (String)

let t16 = Words.add (text 1) (opaque 1.) (Words.singleton (text 2) (opaque 2.))
let () = root "16" t16

module Lists = Hashtbl.Make (struct
  type t = string list

  let equal = ( = )
  let hash = Hashtbl.hash
end)

let t17 = Lists.create 2
let () = Lists.replace t17 (opaque [ text 1 ]) (opaque (Some (text 2))); root "17" t17

(* 18, 19, 20: abstract types and functors of another library. *)
let t18 = Depot.Lot.(append (text 1) (append (text 2) none), mark (opaque 3))
let () = root "18" t18; root "18.lot" (fst t18); root "18.mark" (snd t18)

module Pairs = Depot.Yard.Make (struct
  type t = string * int

  let label (s, _) = s
end)

let t19 = Pairs.of_list (opaque [ (text 1, 1) ])
let () = root "19" t19
let t20 = Pairs.refused (text 4, 2)
let () = root "20" t20

(* 21: a first-class module with an abstract type. *)
module type THING = sig
  type t

  val thing : t
  val names : string list
end

let t21 =
  opaque
    [
      (module struct
        type t = int list

        let thing = opaque [ 1 ]
        let names = opaque [ text 1 ]
      end : THING);
    ]

let () = root "21" t21; root "21.element" (List.hd t21)

(* 22: objects of a class, and of none. *)
class clock start =
  object
    val mutable name : string = start
    val names = [ start ]
    method name = name
    method rename n = name <- n
  end

let t22 = opaque [ new clock (text 1) ]
let t22_immediate = let key = text 2 in object method key = key end
let () = root "22" t22; root "22.element" (List.hd t22); root "22.immediate" t22_immediate

(* 23: a nested datatype. *)
type 'a pyramid = Top | Step of 'a * ('a * 'a) pyramid

let t23 = opaque (Step (text 1, Step ((text 2, text 3), Top)))
let () = root "23" t23; root "23.second" (match t23 with Step (_, s) -> s | Top -> assert false)

(* 24, 25: types that lie. *)
let t24 : int list = Obj.magic (text 1)
let t25 : int * (string * string) = Obj.magic (opaque (text 1, text 2))
let () = root "24" t24; root "25" t25; root "25.field" (Obj.field (Obj.repr t25) 0)

(* 26, 37: abbreviations, private and phantom. *)
let t26 = opaque [ Depot.Lot.code "x" ]
let () = root "26" t26

type 'a labels = string list

let t37 : int labels = opaque [ text 1 ]
let () = root "37" t37

(* 27: one block of static data has two types. *)
type wrapped = Wrapped of int

let t27 = Wrapped 771
let t27_option = Some 771
let () = root "27" t27; root "27.option" t27_option

(* 28, 29: a type found later, a cycle. *)
let t28 = ref []
let () = t28 := [ text 1 ]; root "28" t28
let rec t29 = "round" :: t29
let () = root "29" t29

(* 30, 31, 32: closures. *)
let t30 =
  let common = opaque [ text 1 ] in
  root "30.captured" common;
  let rec ping b = if b then pong (not b) else common
  and pong b = if b then common else ping b in
  opaque [ ping; pong ]

let () = root "30" t30

let weigh (name : string) (parts : int list) (factor : float) =
  factor +. float_of_int (String.length name + List.length parts)

let t31 = opaque (weigh (text 1) (opaque [ 31 ]))
let t31_unknown = opaque ((opaque weigh) (text 2))
let () = root "31" t31; root "31.unknown" t31_unknown

let t32 =
  opaque
    (let cell = { contents = text 1 } in
     let both = opaque (text 2, text 3) in
     root "32.cell" cell;
     root "32.both" both;
     fun () -> cell := fst both; !cell)

let () = root "32" t32

(* 33: boxed integers. *)
let t33 = (opaque [ Int64.of_int (opaque 3) ], opaque [ Int32.of_int (opaque 4) ], opaque [ Nativeint.of_int (opaque 5) ])
let () = root "33" t33

(* 34: containers. *)
let t34 =
  let buffer = Buffer.create 4 and queue = Queue.create () and stack = Stack.create () in
  Buffer.add_string buffer "b";
  Queue.add (text 1) queue;
  Stack.push (text 2) stack;
  (buffer, queue, stack)

let () = root "34" t34; root "34.buffer" (let b, _, _ = t34 in b)

(* 35, 36: one argument that is a tuple; constructors numbered apart. *)
type argument = Joined of (int * string) | Apart of int * string

let t35 = opaque [ Joined (opaque (1, text 1)); Apart (opaque 2, text 2) ]
let () = root "35" t35; root "35.tuple" (match t35 with Joined both :: _ -> both | _ -> assert false)

type counted = First | Second of int | Third | Fourth of string * int | Fifth

let t36 = opaque [ First; Second (opaque 1); Third; Fourth (text 1, 2); Fifth ]
let () = root "36" t36

(* 38: recursive modules. *)
module rec Left : sig
  type t = L of Right.t list

  val it : t
end = struct
  type t = L of Right.t list

  let it = L [ Right.it ]
end

and Right : sig
  type t = string option

  val it : t
end = struct
  type t = string option

  let it = Some "right"
end

let t38 = opaque (Left.L [ Some (text 1) ])
let () = root "38" t38

(* 39, 40: weak pointers, a closure of the standard library. *)
let t39 = Weak.create 2
let () = Weak.set t39 0 (Some (opaque [ text 1 ])); root "39" t39
let t40 = opaque (List.to_seq (opaque [ text 1 ]))
let () = root "40" t40

(* 41 to 44: polymorphic fields, options of options, constraints, shadowing. *)
type generic = { length : 'a. 'a list -> int; words : string list }

let t41 = opaque [ { length = List.length; words = opaque [ text 1 ] } ]
let () = root "41" t41
let t42 = opaque (Some (Some (opaque (Some (text 1)))))
let () = root "42" t42

type 'a element = { only : 'b } constraint 'a = 'b list

let t43 : string list element = opaque { only = text 1 }
let () = root "43" t43
let t44 = opaque [ text 1 ]
let () = root "44.first" t44
let t44 = opaque (t44, text 2)
let () = root "44" t44

(* 45: included and opened structures. *)
include struct
  let t45 = opaque [ text 1; text 2 ]
  let t45_too = opaque (Some 45)
end

open struct
  let t45_opened = opaque (Some [ text 1 ])
  let () = root "45.opened" t45_opened
end

let () = root "45" t45; root "45.too" t45_too

(* 46, 47, 48: custom blocks, a large array, a format. *)
let t46 = (stdout, Bigarray.Array1.create Bigarray.int Bigarray.c_layout 3)
let () = root "46" t46; root "46.array" (snd t46)
let t47 = opaque (Array.init 300 (fun i -> (i, text 1)))
let () = root "47" t47; root "47.element" t47.(77)
let t48 : (int -> string -> string, unit, string) format = "%d or %s!"
let () = root "48" t48

(* 49, 50: what a signature hides, exceptions of nested modules. *)
module Sealed : sig
  type t

  val make : string -> t
  val it : t
end = struct
  let inside = opaque [| text 9 |]

  type t = Link of string * t | Last

  let it = opaque (Link (text 1, Last))
  let make s = Link (s, it)
  let () = root "49.inside" inside
end

let t49 = Sealed.make (text 5)
let () = root "49" t49

module Outer = struct
  let first = opaque [ text 1 ]

  module Inner = struct
    let deep = opaque (Some (text 2))

    exception Nested of string list
  end

  let last = Inner.Nested (opaque [ text 3 ])
end

let t50 = Outer.last
let () = root "50" t50; root "50.deep" Outer.Inner.deep

(* 51 to 55. *)
let t51 = opaque [ (fun (type a) (x : a) -> [ x ]) (text 1) ]
let () = root "51" t51; root "51.element" (List.hd t51)

type person = { mutable friend : person option; called : string }

let t52 =
  let p = { friend = None; called = text 1 } in
  p.friend <- Some p;
  opaque p

let () = root "52" t52; root "52.some" t52.friend

type 'a series = { items : 'a array }

let t53 = (opaque { items = [| opaque 1.; 2. |] }, opaque { items = [| text 1 |] })
let () = root "53" t53; root "53.floats" (fst t53).items
let t54 : (string, int) result * (string, int) Either.t = (opaque (Ok (text 1)), opaque (Either.Left (text 2)))
let () = root "54" t54
let t55 = Atomic.make (opaque [ text 1 ])
let () = root "55" t55

(* 56, 57, 58, 61, 62. *)
let t56 = lazy 3
let () = root "56" t56

module Starting_with_exception = struct
  exception Begin of int

  let words = opaque [ text 1 ]
end

module type STARTING = sig
  exception Begin of int

  val words : string list
end

let t57 = (module Starting_with_exception : STARTING)
let () = root "57" t57

module Twins = struct
  module One = struct let value = opaque [ text 1 ] let number = opaque 1 end
  module Two = struct let value = opaque [ text 2 ] let number = opaque 2 end
end

module type TWIN = sig val value : string list val number : int end
module type SAME = sig val value : string list val number : int end

let t62 = (opaque [ (module Twins.One : TWIN) ], opaque [ (module Twins.Two : SAME) ])
let () = root "62.one" (List.hd (fst t62)); root "62.two" (List.hd (snd t62))
let t61 = Words.map (fun f -> [ f ]) t16
let () = root "61" t61

(* What a closure has captured is of the type of that closure; not if the type is a lie. *)
let cached value make =
  let all = ref [ value ] in
  let f x = all := x :: !all; make x in
  (f, Obj.repr all)

let t63, captured63 = cached [ text 6 ] (fun l -> List.length l)
let cached64, captured64 = cached (text 6) String.length
let t64 : (int * string) list -> int = Obj.magic cached64
let () = root "63" captured63; root "64" captured64
let () = report ()

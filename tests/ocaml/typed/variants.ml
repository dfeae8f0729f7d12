(* Variants: ordinary ones, GADTs, existentials, polymorphic and extensible ones, exceptions. *)
open Truth

let times n make = List.init n make
let text i = "text " ^ string_of_int i

type shape =
  | Point
  | Circle of float
  | Square of float * string
  | Empty
  | Polygon of { corners : (float * float) list; mutable closed : bool; inside : shape option }
  | Label of string

type packed = Packed of (int * string) | Spread of int * string
type ('k, 'v) tree = Leaf | Node of ('k, 'v) tree * 'k * 'v * ('k, 'v) tree
type 'a nest = Nil | Nest of 'a * ('a * 'a) nest
type 'a skew = Flat of 'a | Deeper of 'a list skew
type expr = Const of int | Let of string * expr * expr | Call of string * expr list | Block of stmt list
and stmt = Assign of string * expr | If of expr * stmt * stmt option | While of expr * stmt list

type _ typed =
  | Number : int -> int typed
  | Word : string -> string typed
  | Both : 'a typed * 'b typed -> ('a * 'b) typed
  | First : ('a * 'b) typed -> 'a typed
  | Many : 'a list -> 'a list typed

type _ rep = RInt : int rep | RString : string rep | RList : 'a rep -> 'a list rep | RPair : 'a rep * 'b rep -> ('a * 'b) rep

type dynamic = Dynamic : 'a rep * 'a -> dynamic
type showable = Showable : { value : 'a; show : 'a -> string; ty : 'a ty } -> showable
type counter = Counter : 's * ('s -> 's) * 's ty -> counter
type note = [ `Nothing | `Text of string | `Both of int * string | `Nested of note list ]
type more = [ note | `Extra of float ]
type event = ..
type event += Started of string | Stopped of { code : int; reasons : string list } | Paused

exception Bad of string * int list
exception Worse of { why : string; cause : exn option }
exception Plain

type 'a maybe = None_yet | Known of 'a
type level = Low | High
type peano = Zero | Succ of peano
type ('a, 'b) these = This of 'a | That of 'b | These of 'a * 'b
type 'a stream = { head : 'a; tail : unit -> 'a stream }
type packed_float = Floats of float * float | One of float
type single = Only of string * string

let rec shape_t =
  lazy
    (typ "Variants.shape" (function
      | Point | Empty -> []
      | Circle r -> [ r @: float ]
      | Square (side, s) -> [ side @: float; s @: string ]
      | Polygon { corners; closed; inside } ->
        [ corners @: list (pair float float); closed @: bool; inside @: option (Lazy.force shape_t) ]
      | Label s -> [ s @: string ]))

let packed_t =
  typ "Variants.packed" (function
    | Packed both -> [ both @: pair int string ]
    | Spread (i, s) -> [ i @: int; s @: string ])

let rec tree_t : 'k 'v. 'k ty -> 'v ty -> ('k, 'v) tree ty =
 fun k v ->
  typ2 "Variants.tree" k v (function
    | Leaf -> []
    | Node (l, key, value, r) -> [ l @: tree_t k v; key @: k; value @: v; r @: tree_t k v ])

let rec nest_t : 'a. 'a ty -> 'a nest ty =
 fun a ->
  typ1 "Variants.nest" a (function Nil -> [] | Nest (x, rest) -> [ x @: a; rest @: nest_t (pair a a) ])

let rec skew_t : 'a. 'a ty -> 'a skew ty =
 fun a -> typ1 "Variants.skew" a (function Flat x -> [ x @: a ] | Deeper d -> [ d @: skew_t (list a) ])

let rec expr_t =
  lazy
    (let expr = fun e -> e @: Lazy.force expr_t in
     typ "Variants.expr" (function
       | Const _ -> []
       | Let (x, e, body) -> [ x @: string; expr e; expr body ]
       | Call (f, arguments) -> [ f @: string; arguments @: list (Lazy.force expr_t) ]
       | Block b -> [ b @: list (Lazy.force stmt_t) ]))

and stmt_t =
  lazy
    (typ "Variants.stmt" (function
      | Assign (x, e) -> [ x @: string; e @: Lazy.force expr_t ]
      | If (e, s, other) ->
        [ e @: Lazy.force expr_t; s @: Lazy.force stmt_t; other @: option (Lazy.force stmt_t) ]
      | While (e, body) -> [ e @: Lazy.force expr_t; body @: list (Lazy.force stmt_t) ]))

let rec typed_t : type a. a ty -> a typed ty =
 fun a -> typ1 "Variants.typed" a (fun e -> typed_parts e)

(* What a term is made of, with the types that the constructors bring to light. *)
and typed_parts : type a. a typed -> part list = function
  | Number n -> [ n @: int ]
  | Word w -> [ w @: string ]
  | Both (x, y) -> [ typed_part x; typed_part y ]
  | First _ -> []
  | Many _ -> []

and typed_part : type a. a typed -> part = fun e ->
  match spelled_of e with
  | Some t -> e @: typed_t t
  | None -> e @: hidden

and spelled_of : type a. a typed -> a ty option = function
  | Number _ -> Some int
  | Word _ -> Some string
  | Both (x, y) -> (
    match (spelled_of x, spelled_of y) with
    | Some a, Some b -> Some (pair a b)
    | _ -> None)
  | First _ -> None
  | Many _ -> None

let rec ty_of_rep : type a. a rep -> a ty = function
  | RInt -> int
  | RString -> string
  | RList r -> list (ty_of_rep r)
  | RPair (r, s) -> pair (ty_of_rep r) (ty_of_rep s)

let rec rep_t : type a. a rep -> a rep ty =
 fun r ->
  typ1 "Variants.rep" (ty_of_rep r) (fun (r : a rep) : part list ->
      match r with
      | RInt | RString -> []
      | RList r -> [ r @: rep_t r ]
      | RPair (r, s) -> [ r @: rep_t r; s @: rep_t s ])

(* The representation in it is that of an existential type, which heapgraph cannot know. *)
let dynamic_t = typ "Variants.dynamic" (fun (Dynamic (r, v)) -> [ v @: ty_of_rep r ])
let showable_t = typ "Variants.showable" (fun (Showable { value; ty; _ }) -> [ value @: ty ])
let counter_t = typ "Variants.counter" (fun (Counter (state, _, ty)) -> [ state @: ty ])

let rec note_parts : note -> part list = function
  | `Nothing -> []
  | `Text s -> [ s @: string ]
  | `Both both -> [ both @: pair int string ]
  | `Nested notes -> [ notes @: list (Lazy.force note_t) ]

and note_t = lazy (typ "Variants.note" note_parts)

let more_t =
  typ "Variants.more" (function #note as n -> note_parts n | `Extra f -> [ f @: float ])

let event_t =
  typ "Variants.event" (function
    | Started s -> [ s @: string ]
    | Stopped { code; reasons } -> [ code @: int; reasons @: list string ]
    | _ -> [])

let rec exn_t =
  lazy
    (exn (function
      | Bad (s, l) -> [ s @: string; l @: list int ]
      | Worse { why; cause } -> [ why @: string; cause @: option (Lazy.force exn_t) ]
      | Failure s | Invalid_argument s -> [ s @: string ]
      | _ -> []))

let maybe_t a = typ1 "Variants.maybe" a (function None_yet -> [] | Known x -> [ x @: a ])
let rec peano_t = lazy (typ "Variants.peano" (function Zero -> [] | Succ n -> [ n @: Lazy.force peano_t ]))

let these_t a b =
  typ2 "Variants.these" a b (function
    | This x -> [ x @: a ]
    | That y -> [ y @: b ]
    | These (x, y) -> [ x @: a; y @: b ])

let stream_t a = typ1 "Variants.stream" a (fun { head; _ } -> [ head @: a ])

let packed_float_t =
  typ "Variants.packed_float" (function Floats (x, y) -> [ x @: float; y @: float ] | One x -> [ x @: float ])

let single_t = typ "Variants.single" (fun (Only (s, t)) -> [ s @: string; t @: string ])

let shape i =
  match i mod 6 with
  | 0 -> Point
  | 1 -> Circle (float_of_int i)
  | 2 -> Square (float_of_int i, text i)
  | 3 -> Empty
  | 4 ->
    Polygon
      {
        corners = times 3 (fun k -> (float_of_int k, float_of_int i));
        closed = true;
        inside = Some (Label (text i));
      }
  | _ -> Label (text i)

let shapes = times 120 shape
let packed = times 40 (fun i -> if i mod 2 = 0 then Packed (i, text i) else Spread (i, text i))

let rec insert k v = function
  | Leaf -> Node (Leaf, k, v, Leaf)
  | Node (l, key, value, r) ->
    if k < key then Node (insert k v l, key, value, r) else Node (l, key, value, insert k v r)

let tree = List.fold_left (fun t i -> insert (text (i * 7 mod 100)) [ i; i + 1 ] t) Leaf (times 100 Fun.id)
let rec nested : 'a. int -> (int -> 'a) -> 'a nest =
 fun depth make ->
  if depth = 0 then Nil else Nest (make depth, nested (depth - 1) (fun i -> (make i, make (i + 1))))

let nest = nested 6 text
let rec skewed : 'a. int -> (int -> 'a) -> 'a skew =
 fun depth make -> if depth = 0 then Flat (make 1) else Deeper (skewed (depth - 1) (fun i -> [ make i; make (i + 1) ]))

let skew = skewed 4 text

let rec expr depth =
  if depth = 0 then Const 3
  else
    match depth mod 3 with
    | 0 -> Let (text depth, expr (depth - 1), expr (depth / 2))
    | 1 -> Call (text depth, times 3 (fun i -> expr (max 0 (depth - 2 - i))))
    | _ -> Block (times 2 (fun _ -> stmt (depth - 1)))

and stmt depth =
  match depth mod 3 with
  | 0 -> Assign (text depth, expr (depth / 2))
  | 1 -> If (expr (depth - 1), Assign (text depth, Const depth), Some (While (expr (depth / 2), [])))
  | _ -> While (expr (depth - 1), times 2 (fun _ -> Assign (text depth, Const (depth + 1))))

let program = times 5 (fun i -> expr (i + 4))
let typed = times 10 (fun i -> Both (Number i, Both (Word (text i), Number (i + 1))))
let selected = times 5 (fun i -> First (Both (Word (text i), Number i)))
let many = Many (times 5 text)

let dynamics =
  List.concat
    (times 10 (fun i ->
         [
           Dynamic (RInt, i); Dynamic (RString, text i); Dynamic (RList RInt, times 3 Fun.id);
           Dynamic (RPair (RString, RList RString), (text i, times 2 text));
         ]))

let reps = RPair (RList (RPair (RInt, RString)), RList RString)

let showables =
  times 20 (fun i ->
      if i mod 2 = 0 then Showable { value = text i; show = Fun.id; ty = string }
      else Showable { value = (i, text i); show = snd; ty = pair int string })

let counters = times 5 (fun i -> Counter (times i text, (fun l -> "more" :: l), list string))

let note i : note =
  match i mod 4 with
  | 0 -> `Nothing
  | 1 -> `Text (text i)
  | 2 -> `Both (i, text i)
  | _ -> `Nested [ `Text (text i); `Nothing; `Both (i, "b") ]

let notes = times 60 note
let mores : more list = times 30 (fun i -> if i mod 2 = 0 then `Extra (float_of_int i) else (note i :> more))

let events =
  times 30 (fun i ->
      match i mod 3 with
      | 0 -> Started (text i)
      | 1 -> Stopped { code = i; reasons = times 2 text }
      | _ -> Paused)

let exceptions =
  times 40 (fun i ->
      match i mod 7 with
      | 0 -> Bad (text i, times 3 Fun.id)
      | 1 -> Worse { why = text i; cause = Some (Bad (text i, [ i ])) }
      | 2 -> Plain
      | 3 -> Not_found
      | 4 -> Failure (text i)
      | 5 -> Worse { why = text i; cause = None }
      | _ -> Invalid_argument (text i))

let maybes = times 10 (fun i -> if i mod 3 = 0 then None_yet else Known (Some (text i)))
let levels = [ (Low, text 1); (High, text 2) ]
let rec peano n = if n = 0 then Zero else Succ (peano (n - 1))
let number = peano 200

let these =
  times 30 (fun i ->
      match i mod 3 with 0 -> This (text i) | 1 -> That [| i |] | _ -> These (text i, Array.make 3 i))

let rec stream i = { head = text i; tail = (fun () -> stream (i + 1)) }
let streams = times 10 stream
let float_pairs = times 20 (fun i -> if i mod 2 = 0 then Floats (float_of_int i, 2.) else One (float_of_int i))
let singles = Array.init 10 (fun i -> Only (text i, text (i + 1)))
let results : (string, int) result list = times 10 (fun i -> if i mod 2 = 0 then Ok (text i) else Error i)

let eithers : (string list, float) Either.t list =
  times 10 (fun i -> if i mod 2 = 0 then Either.Left (times 2 text) else Either.Right (float_of_int i))

let () =
  known (list (Lazy.force shape_t)) shapes;
  known (list packed_t) packed;
  known (tree_t string (list int)) tree;
  known (nest_t string) nest;
  known (skew_t string) skew;
  known (list (Lazy.force expr_t)) program;
  known (list (typed_t (pair int (pair string int)))) typed;
  known (list (typed_t string)) selected;
  known (typed_t (list string)) many;
  known (list dynamic_t) dynamics;
  known (rep_t reps) reps;
  known (list showable_t) showables;
  known (list counter_t) counters;
  known (list (Lazy.force note_t)) notes;
  known (list more_t) mores;
  known (list event_t) events;
  known (list (Lazy.force exn_t)) exceptions;
  known (list (maybe_t (option string))) maybes;
  known (list (pair (typ "Variants.level" (fun (Low | High) -> [])) string)) levels;
  known (Lazy.force peano_t) number;
  known (list (these_t string (array int))) these;
  known (list (stream_t string)) streams;
  known (list packed_float_t) float_pairs;
  known (array single_t) singles;
  known (list (result string int)) results;
  known (list (either (list string) float)) eithers;
  report ()

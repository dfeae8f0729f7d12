(* Structured constants, which the compiler shares between equal ones whatever their types, and
   values whose types lie. *)
open Truth

type foo = Foo of int
type bar = { left : int; right : int }
type baz = Baz of int * int | Nothing
type words = Word of string * words | End
type names = { names : string list; count : int }

let foo_t = typ "Constants.foo" (fun (Foo _) -> [])
let bar_t = typ "Constants.bar" (fun { left; right } -> [ left @: int; right @: int ])
let baz_t = typ "Constants.baz" (function Baz (_, _) | Nothing -> [])
let rec words_t = lazy (typ "Constants.words" (function Word (s, w) -> [ s @: string; w @: Lazy.force words_t ] | End -> []))
let names_t = typ "Constants.names" (fun { names; count } -> [ names @: list string; count @: int ])

(* Equal in memory. *)
let a_foo = Foo 77
let a_some = Some 77
let a_bar = { left = 3; right = 4 }
let a_baz = Baz (3, 4)
let a_pair = (3, 4)

(* Shared parts. *)
let planets = [ "mercury"; "venus"; "earth" ]
let inner_planets = { names = [ "venus"; "earth" ]; count = 2 }
let sentence = Word ("shared", Word ("words", End))
let table = [| ("one", 1); ("two", 2); ("three", 3) |]
let nested = Some (Some ("deep", [ 1.5; 2.5 ]))
let rec cycle = "around" :: cycle

type knot = { me : knot option; tag : string }

let rec knot = { me = Some knot; tag = "knot" }

let rec knot_t =
  lazy (typ "Constants.knot" (fun { me; tag } -> [ me @: option (Lazy.force knot_t); tag @: string ]))

(* Constants in a heap of lists that are none. *)
let mixture = List.init 20 (fun i -> if i mod 2 = 0 then planets else string_of_int i :: planets)
let bars = List.init 10 (fun i -> if i mod 2 = 0 then a_bar else { left = i; right = i })
let pairs = List.init 10 (fun i -> if i mod 2 = 0 then a_pair else (i, i))

(* The types of these are lies, and what they hold is seen where it is what it is. *)

let text i = "text " ^ string_of_int i
let a_string = text 1
let a_list_they_say : int list = Obj.magic a_string
let nested_they_say : int * (string * string) = Obj.magic (text 2, text 3)
let numbers = Array.init 4 float_of_int
let tuple_they_say : int * int = Obj.magic numbers
let real_list = List.init 5 text
let function_they_say : int -> int = Obj.magic (ref 7)
let any = List.init 6 (fun i -> if i mod 2 = 0 then Obj.repr (text i) else Obj.repr (float_of_int i))

let () =
  known foo_t a_foo;
  known (option int) a_some;
  known bar_t a_bar;
  known baz_t a_baz;
  known (pair int int) a_pair;
  known (list string) planets;
  known names_t inner_planets;
  known (Lazy.force words_t) sentence;
  known (array (pair string int)) table;
  known (option (option (pair string (list float)))) nested;
  known (list string) cycle;
  known (Lazy.force knot_t) knot;
  known (list (list string)) mixture;
  known (list bar_t) bars;
  known (list (pair int int)) pairs;
  known string a_string;
  known (array float) numbers;
  ignore (a_list_they_say, nested_they_say, tuple_they_say, function_they_say);
  known (list string) real_list;
  later (fun () ->
      let first, second = (Obj.magic nested_they_say : string * string) in
      [ first @: string; second @: string ]);
  later (fun () ->
      List.concat_map
        (fun x -> if Obj.tag x = Obj.string_tag then [ (Obj.obj x : string) @: string ] else [ (Obj.obj x : float) @: float ])
        any);
  report ()

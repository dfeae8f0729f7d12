(* Functors, abstract types, first-class and recursive modules. *)
open Truth

let times n make = List.init n make
let text i = "text " ^ string_of_int i

(* The standard library's functors. *)

module Strings = Map.Make (String)
module Numbers = Map.Make (Int)
module Words = Set.Make (String)

module Pair_order = struct
  type t = int * string

  let compare = compare
end

module Pairs = Set.Make (Pair_order)
module By_pair = Map.Make (Pair_order)

module Lists = Hashtbl.Make (struct
  type t = string list

  let equal = ( = )
  let hash = Hashtbl.hash
end)

let by_name = List.fold_left (fun m i -> Strings.add (text i) (float_of_int i) m) Strings.empty (times 200 Fun.id)
let by_number = ref Numbers.empty
let () = for i = 1 to 100 do by_number := Numbers.add i (times (i mod 3) text) !by_number done
let words = Words.of_list (times 150 text)
let pairs = Pairs.of_list (times 60 (fun i -> (i, text i)))
let by_pair = List.fold_left (fun m i -> By_pair.add (i, text i) (Some i) m) By_pair.empty (times 60 Fun.id)
let maps_of_maps = Strings.mapi (fun name _ -> Numbers.singleton 1 (text (String.length name))) by_name
let by_lists : (string option) Lists.t = Lists.create 10
let () = for i = 1 to 50 do Lists.replace by_lists (times (i mod 7) (fun k -> text (i + k))) (Some (text i)) done
let filtered = Words.filter (fun w -> String.length w mod 2 = 0) words

(* Functors of our own: applied to named and unnamed modules, twice, generative, in functors. *)

module Heap_of_strings = Vault.Heap (String)

module Heap_of_pairs = Vault.Heap (struct
  type t = int * string

  let compare = compare
end)

let strings_heap = List.fold_left (fun h i -> Heap_of_strings.add (text (i * 31 mod 80)) h) Heap_of_strings.empty (times 80 Fun.id)
let pairs_heap = List.fold_left (fun h i -> Heap_of_pairs.add (i * 17 mod 50, text i) h) Heap_of_pairs.empty (times 50 Fun.id)

module type ELEMENT = sig
  type t

  val make : int -> t
  val ty : t Truth.ty
end

module Ring (E : ELEMENT) = struct
  type link = { element : E.t; mutable next : link option }
  type t = { mutable first : link option; all : E.t array; spare : E.t option }

  exception Empty_ring of E.t list

  let make n =
    let all = Array.init n E.make in
    let rec links i = if i = n then None else Some { element = all.(i); next = links (i + 1) } in
    { first = links 0; all; spare = (if n > 2 then Some (E.make n) else None) }

  let failed n = Empty_ring (List.init n E.make)

  let rec link_ty path =
    typ (path ^ ".link") (fun { element; next } -> [ element @: E.ty; next @: option (link_ty path) ])

  let ty path =
    typ (path ^ ".t") (fun { first; all; spare } ->
        [ first @: option (link_ty path); all @: array E.ty; spare @: option E.ty ])
end

module Texts = struct
  type t = string

  let make = text
  let ty = string
end

module Number_lists = struct
  type t = int list

  let make i = times (1 + (i mod 4)) (fun k -> i + k)
  let ty = list int
end

module Text_ring = Ring (Texts)
module List_ring = Ring (Number_lists)

let text_ring = Text_ring.make 40
let list_rings = times 10 List_ring.make

module Counter () = struct
  type t = { ticks : int; log : string list }

  let tick { ticks; log } = { ticks = ticks + 1; log = text ticks :: log }
  let start = { ticks = 0; log = [] }
  let ty path = typ (path ^ ".t") (fun { log; _ } -> [ log @: list string ])
end

module First_counter = Counter ()
module Second_counter = Counter ()

let first_count = First_counter.(tick (tick start))
let second_count = Second_counter.(tick (tick (tick start)))

(* Abstract types of another unit. *)

let vaults =
  times 20 (fun n -> List.fold_left (fun v i -> Vault.put (Vault.key i) (times (i mod 3) text) v) (Vault.empty ()) (times n Fun.id))

let ids = times 10 Vault.id
let tokens = Array.init 40 Vault.token

(* Sealed here; what is hidden is reached nevertheless. *)

module Sealed : sig
  type t

  val make : string -> t
  val ty : t Truth.ty
end = struct
  type t = Link of string * t | End of secret
  and secret = { word : string; others : string array }

  let hidden = [| text 1; text 2 |]
  let make s = Link (s, Link (s ^ "!", End { word = s; others = hidden }))

  let rec ty =
    lazy
      (typ "Modules.Sealed.t" (function
        | Link (s, t) -> [ s @: string; t @: Lazy.force ty ]
        | End s ->
          [ s @: typ "Modules.Sealed.secret" (fun { word; others } -> [ word @: string; others @: array string ]) ]))

  let ty = Lazy.force ty
end

let sealed = times 15 (fun i -> Sealed.make (text i))

(* Recursive modules. *)

module rec Tree : sig
  type t = Leaf of string | Fork of Forest.t
end =
  Tree

and Forest : sig
  type t = { trees : Tree.t list; name : string }
end =
  Forest

let rec tree n =
  if n = 0 then Tree.Leaf (text n)
  else Tree.Fork { Forest.trees = times 2 (fun _ -> tree (n - 1)); name = text n }

let tree = tree 5

let rec tree_ty =
  lazy
    (typ "Modules.Tree.t" (function
      | Tree.Leaf s -> [ s @: string ]
      | Fork f ->
        [ f @: typ "Modules.Forest.t" (fun { Forest.trees; name } -> [ trees @: list (Lazy.force tree_ty); name @: string ]) ]))

(* First-class modules. *)

module type SHOW = sig
  type t

  val value : t
  val names : string list
  val ty : t Truth.ty
end

let shows : (module SHOW) list =
  times 10 (fun i ->
      if i mod 2 = 0 then
        (module struct
          type t = int list

          let value = times (1 + i) Fun.id
          let names = times 2 text
          let ty = list int
        end : SHOW)
      else
        (module struct
          type t = string * float

          let value = (text i, float_of_int i)
          let names = [ text i ]
          let ty = pair string float
        end))

let show_ty = typ "(module Modules.SHOW)" (fun (module S : SHOW) -> [ S.value @: S.ty; S.names @: list string ])

(* Shadowed, included and opened. *)

let shadowed = times 3 text
let shadowed = (shadowed, times 2 Fun.id)

include struct
  let included = times 4 (fun i -> Some (text i))
  let included_too = [| (1, text 1) |]
end

open struct
  type secret = { code : string; digits : int list }

  let opened = times 5 (fun i -> { code = text i; digits = [ i; i ] })
  let secret_ty = typ "Modules.secret" (fun { code; digits } -> [ code @: string; digits @: list int ])
  let () = known (list secret_ty) opened
end

module Outer = struct
  let first = times 3 (fun i -> (text i, Some i))

  module Inner = struct
    type deep = { depth : int; path : string list }

    exception Too_deep of string list

    let deepest = { depth = 2; path = times 3 text }
    let error = Too_deep (times 2 text)
  end

  let last = { Inner.depth = 5; path = text 9 :: Inner.deepest.path }
end

let deep_ty = typ "Modules.Outer.Inner.deep" (fun { Outer.Inner.path; _ } -> [ path @: list string ])

(* Two modules with equal types and values. *)

module Cats = struct
  type t = { name : string; lives : int }

  let all = times 9 (fun lives -> { name = text lives; lives })
end

module Dogs = struct
  type t = { name : string; lives : int }

  let all = times 9 (fun lives -> { name = text lives; lives })
end

let local_module n =
  let module Local = struct
    type t = { inside : string; number : int }
  end in
  times n (fun number -> { Local.inside = text number; number }) |> List.map (fun l -> (l.Local.inside, l.number))

let from_local = local_module 10

let () =
  known (map_as "Map.Make(String).t" string float) by_name;
  known (reference (map_as "Map.Make(Int).t" int (list string))) by_number;
  known (set_as "Set.Make(String).t" string) words;
  known (set_as "Set.Make(Modules.Pair_order).t" (pair int string)) pairs;
  known (map_as "Map.Make(Modules.Pair_order).t" (pair int string) (option int)) by_pair;
  known (map_as "Map.Make(String).t" string (map_as "Map.Make(Int).t" int string)) maps_of_maps;
  known (hashtbl_as (list string) (option string)) by_lists;
  known (set_as "Set.Make(String).t" string) filtered;
  known (Heap_of_strings.ty "Vault.Heap(String).t" string) strings_heap;
  known (Heap_of_pairs.ty "Modules.Heap_of_pairs.t" (pair int string)) pairs_heap;
  known (Text_ring.ty "Modules.Ring(Modules.Texts)") text_ring;
  known (list (List_ring.ty "Modules.Ring(Modules.Number_lists)")) list_rings;
  known (First_counter.ty "Modules.First_counter") First_counter.start;
  known (Second_counter.ty "Modules.Second_counter") Second_counter.start;
  known (First_counter.ty "Modules.First_counter") first_count;
  known (Second_counter.ty "Modules.Second_counter") second_count;
  known (list (Vault.t_ty (list string))) vaults;
  known (list Vault.id_ty) ids;
  known (array Vault.token_ty) tokens;
  known (list Sealed.ty) sealed;
  known (Lazy.force tree_ty) tree;
  known (list show_ty) shows;
  known (pair (list string) (list int)) shadowed;
  known (list (option string)) included;
  known (array (pair int string)) included_too;
  known (list (pair string (option int))) Outer.first;
  known deep_ty Outer.Inner.deepest;
  known deep_ty Outer.last;
  known (exn (function Outer.Inner.Too_deep l -> [ l @: list string ] | _ -> [])) Outer.Inner.error;
  known
    (exn (function
      | Text_ring.Empty_ring l -> [ l @: list string ]
      | _ -> []))
    (Text_ring.failed 3);
  known (list (typ "Modules.Cats.t" (fun { Cats.name; _ } -> [ name @: string ]))) Cats.all;
  known (list (typ "Modules.Dogs.t" (fun { Dogs.name; _ } -> [ name @: string ]))) Dogs.all;
  known (list (pair string int)) from_local;
  report ()

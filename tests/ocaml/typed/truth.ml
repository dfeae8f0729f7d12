type 'a ty = { spelled : string; level : int; inside : 'a -> view }
and part = Part : 'a ty * 'a -> part

and view =
  | Parts of part list
  | Same of part
  | Unseen

external address : Obj.t -> int = "truth_address"
external is_young : Obj.t -> bool = "truth_is_young"
external hold : Obj.t -> unit = "truth_hold"
external held : unit -> Obj.t = "truth_held"
external wait : unit -> unit = "truth_wait"

let ( @: ) value ty = Part (ty, value)
let name ty = ty.spelled

(* The list of values in the root of C. *)
let remembered () : part list = Obj.obj (held ())
let remember parts = hold (Obj.repr (parts : part list))
let known ty value = remember ((value @: ty) :: remembered ())
let forget () = remember []

(* Functions only: what they find they find when they are asked. *)
let questions : (unit -> part list) list ref = ref []
let later question = questions := question :: !questions

(* Spelling. *)

let simple = 0
let tuple_level = 1
let arrow_level = 2
let within limit ty = if ty.level > limit then "(" ^ ty.spelled ^ ")" else ty.spelled

let applied arguments path =
  match arguments with
  | [] -> path
  | [ (argument, alone) ] -> ignore argument; alone ^ " " ^ path
  | several -> "(" ^ String.concat ", " (List.map fst several) ^ ") " ^ path

(* How a type is spelled among several arguments, and as the only one. *)
let argument ty = (ty.spelled, within simple ty)
let make spelled inside = { spelled; level = simple; inside }
let parts inside value = Parts (inside value)
let typ path inside = make path (parts inside)
let typ_view = make
let typ1 path a inside = make (applied [ argument a ] path) (parts inside)
let typ2 path a b inside = make (applied [ argument a; argument b ] path) (parts inside)
let hidden = { spelled = "_"; level = simple; inside = (fun _ -> Unseen) }
let opaque path = make path (fun _ -> Parts [])
let unboxed inner project ty = { ty with inside = (fun value -> inner.inside (project value)) }

(* Predefined types. *)

let int = opaque "int"
let bool = opaque "bool"
let char = opaque "char"
let unit = opaque "unit"
let string = opaque "string"
let bytes = opaque "bytes"
let float = opaque "float"
let int32 = opaque "int32"
let int64 = opaque "int64"
let nativeint = opaque "nativeint"
let floatarray = opaque "floatarray"
let exn inside = typ "exn" inside

let rec list a =
  typ1 "list" a (function
    | [] -> []
    | head :: tail -> [ head @: a; tail @: list a ])

let option a = typ1 "option" a (function None -> [] | Some x -> [ x @: a ])

(* Reading an element of an array of floats makes a new block. *)
let array a =
  typ1 "array" a (fun elements ->
      if Obj.tag (Obj.repr elements) = Obj.double_array_tag then []
      else Array.fold_left (fun found x -> (x @: a) :: found) [] elements)

let reference a = typ1 "ref" a (fun r -> [ !r @: a ])

let lazy_t a =
  make (applied [ argument a ] "lazy_t") (fun delayed ->
      if not (Lazy.is_val delayed) then Parts []
      else
        let value = Lazy.force delayed in
        if Obj.repr value == Obj.repr delayed then Same (value @: a) else Parts [ value @: a ])

let result a b = typ2 "result" a b (function Ok x -> [ x @: a ] | Error y -> [ y @: b ])
let either a b = typ2 "Either.t" a b (function Either.Left x -> [ x @: a ] | Right y -> [ y @: b ])

let tuple components inside =
  {
    spelled = String.concat " * " components;
    level = tuple_level;
    inside = parts inside;
  }

let component ty = within simple ty
let labelled_tuple labelled inside =
  tuple (List.map (fun (label, part) -> if label = "" then part else label ^ ":" ^ part) labelled) inside

let pair a b = tuple [ component a; component b ] (fun (x, y) -> [ x @: a; y @: b ])

let triple a b c =
  tuple [ component a; component b; component c ] (fun (x, y, z) -> [ x @: a; y @: b; z @: c ])

let quadruple a b c d =
  tuple
    [ component a; component b; component c; component d ]
    (fun (x, y, z, u) -> [ x @: a; y @: b; z @: c; u @: d ])

let arrow label a b =
  let spelled = label ^ within tuple_level a ^ " -> " ^ b.spelled in
  { spelled; level = arrow_level; inside = (fun _ -> Parts []) }

let ( --> ) a b = arrow "" a b
let labelled label a b = arrow (label ^ ":") a b

let variant tags inside =
  let tag (name, argument) =
    match argument with
    | None -> "`" ^ name
    | Some spelled -> "`" ^ name ^ " of " ^ spelled
  in
  typ ("[ " ^ String.concat " | " (List.map tag tags) ^ " ]") inside

let obj methods =
  opaque ("< " ^ String.concat "; " (List.map (fun (name, t) -> name ^ " : " ^ t) methods) ^ " >")

(* The standard library's own definitions, which it hides: the same from 4.13 to 5.3. *)

type ('a, 'b) bucket = Empty | Cons of { key : 'a; data : 'b; next : ('a, 'b) bucket }
type ('a, 'b) table = { size : int; data : ('a, 'b) bucket array; seed : int; initial_size : int }
type ('k, 'd) tree = Leaf | Node of { l : ('k, 'd) tree; v : 'k; d : 'd; r : ('k, 'd) tree; h : int }
type 'e plant = Bare | Plant of { l : 'e plant; v : 'e; r : 'e plant; h : int }
type 'a cell = Nil | Cell of { content : 'a; next : 'a cell }
type 'a line = { length : int; first : 'a cell; last : 'a cell }
type 'a pile = { c : 'a list; len : int }

let rec bucket a b =
  typ2 "Hashtbl.bucketlist" a b (function
    | Empty -> []
    | Cons { key; data; next } -> [ key @: a; data @: b; next @: bucket a b ])

let hashtbl_as a b =
  typ2 "Hashtbl.t" a b (fun hidden_table ->
      let table = Obj.magic hidden_table in
      ignore (table.size + table.seed + table.initial_size);
      [ table.data @: array (bucket a b) ])

let hashtbl a b = hashtbl_as a b

let map_as path key data =
  let spelled = applied [ argument data ] path in
  let rec tree : (_, _) tree ty =
    {
      spelled;
      level = simple;
      inside =
        (function
        | Leaf -> Parts []
        | Node { l; v; d; r; h } ->
          ignore (h : int);
          Parts [ l @: tree; v @: key; d @: data; r @: tree ]);
    }
  in
  make spelled (fun hidden_map -> tree.inside (Obj.magic hidden_map))

let set_as path element =
  let rec plant : _ plant ty =
    {
      spelled = path;
      level = simple;
      inside =
        (function
        | Bare -> Parts []
        | Plant { l; v; r; h } ->
          ignore (h : int);
          Parts [ l @: plant; v @: element; r @: plant ]);
    }
  in
  make path (fun hidden_set -> plant.inside (Obj.magic hidden_set))

let rec cell a =
  typ1 "Queue.cell" a (function
    | Nil -> []
    | Cell { content; next } -> [ content @: a; next @: cell a ])

let queue a =
  typ1 "Queue.t" a (fun hidden_queue ->
      let line = Obj.magic hidden_queue in
      ignore line.length;
      [ line.first @: cell a; line.last @: cell a ])

let stack a =
  typ1 "Stack.t" a (fun hidden_stack ->
      let pile = Obj.magic hidden_stack in
      ignore pile.len;
      [ pile.c @: list a ])

(* Its bytes are in a record of their own from 5.2 on. *)
let buffer = opaque "Buffer.t"

(* The walk. *)

(* Blocks without fields are atoms, which all types share. *)
let rec note table order (Part (ty, value)) push =
  if Obj.is_block (Obj.repr value) && Obj.size (Obj.repr value) > 0 then
    match ty.inside value with
    | Unseen -> ()
    | Same other -> note table order other push
    | Parts inside ->
      let place = address (Obj.repr value) in
      if is_young (Obj.repr value) then failwith ("a new block was shown as " ^ ty.spelled);
      let types = try Hashtbl.find table place with Not_found -> [] in
      if types = [] then order := place :: !order;
      if not (List.mem ty.spelled types) then begin
        Hashtbl.replace table place (types @ [ ty.spelled ]);
        List.iter push inside
      end

let report () =
  Gc.set { (Gc.get ()) with Gc.max_overhead = 1_000_000 };
  Gc.compact ();
  let table = Hashtbl.create 1024 and order = ref [] and rest = Stack.create () in
  List.iter (fun part -> Stack.push part rest) (remembered ());
  List.iter (fun question -> List.iter (fun part -> Stack.push part rest) (question ())) !questions;
  while not (Stack.is_empty rest) do
    note table order (Stack.pop rest) (fun part -> Stack.push part rest)
  done;
  let line place = Printf.printf "TYPE-TRUTH 0x%x %s\n" place (String.concat " or " (Hashtbl.find table place)) in
  List.iter line (List.rev !order);
  print_string "READY\n";
  flush stdout;
  wait ()

(* OCaml 5.4: labelled tuples, immutable arrays, atomic fields, and Dynarrays, whose spare slots hold an
   object that is of no type of theirs. *)
open Truth

let times n make = List.init n make
let text i = "text " ^ string_of_int i

type place = x:int * y:int * label:string
type 'a mixed = first:'a * string
type counter = { name : string; mutable hits : int [@atomic]; mutable last : string option [@atomic] }
type shape = Circle of (r:float * at:place) | Square of (int * side:float)

let place_t : place ty =
  labelled_tuple [ ("x", "int"); ("y", "int"); ("label", "string") ] (fun (~x, ~y, ~label) -> [ x @: int; y @: int; label @: string ])

let mixed_t a : 'a mixed ty =
  labelled_tuple [ ("first", name a); ("", "string") ] (fun (~first, second) -> [ first @: a; second @: string ])

let counter_t =
  typ "Recent.counter" (fun (c : counter) -> [ c.name @: string; c.hits @: int; c.last @: option string ])

let circle_t : (r:float * at:place) ty =
  labelled_tuple [ ("r", "float"); ("at", "(x:int * y:int * label:string)") ] (fun (~r, ~at) -> [ r @: float; at @: place_t ])

let square_t : (int * side:float) ty =
  labelled_tuple [ ("", "int"); ("side", "float") ] (fun (i, ~side) -> [ i @: int; side @: float ])

let shape_t =
  typ "Recent.shape" (function Circle c -> [ c @: circle_t ] | Square s -> [ s @: square_t ])

let iarray a : 'a iarray ty =
  typ1 "iarray" a (fun l -> List.map (fun e -> e @: a) (Iarray.to_list l))

let pairs_of_floats : float iarray ty = typ "float iarray" (fun _ -> [])

(* Its array is not to be reached. *)
let dynarray a : 'a Dynarray.t ty =
  typ1 "Dynarray.t" a (fun d -> List.map (fun e -> e @: a) (Dynarray.to_list d))

let places = times 30 (fun i -> (~x:i, ~y:(-i), ~label:(text i)))
let mixed : string list mixed list = times 10 (fun i -> (~first:[ text i ], text i))
let counters = Array.init 20 (fun i -> { name = text i; hits = i; last = Some (text i) })
let shapes =
  times 12 (fun i ->
      if i mod 2 = 0 then Circle (~r:(float_of_int i), ~at:(~x:i, ~y:i, ~label:(text i)))
      else Square (i, ~side:(float_of_int i)))
let strings = Iarray.init 25 text
let floats = Iarray.init 25 float_of_int
let nested = Iarray.init 5 (fun i -> Iarray.init i (fun j -> (text i, j)))
let filled make n =
  let d = Dynarray.create () in
  for i = 1 to n do Dynarray.add_last d (make i) done;
  d

let names = filled text 100
let numbers = filled Fun.id 100
let records = filled (fun i -> { name = text i; hits = 0; last = None }) 70
let dynarrays = filled (fun i -> filled text i) 9
let functions = filled (fun i () -> i) 5
let objects = filled (fun i -> object method get = text i end) 5
let boxes = filled float_of_int 11
let shrunk = filled (fun i -> Some (text i)) 40

let () =
  for _ = 1 to 30 do ignore (Dynarray.pop_last_opt shrunk) done;
  Array.iter (fun c -> Atomic.Loc.set [%atomic.loc c.last] (Some (c.name ^ "!"))) counters;
  known (list place_t) places;
  known (list (mixed_t (list string))) mixed;
  known (array counter_t) counters;
  known (list shape_t) shapes;
  known (iarray string) strings;
  known pairs_of_floats floats;
  known (iarray (iarray (pair string int))) nested;
  known (dynarray string) names;
  known (dynarray int) numbers;
  known (dynarray counter_t) records;
  known (dynarray (dynarray string)) dynarrays;
  known (dynarray (unit --> int)) functions;
  known (dynarray (obj [ ("get", "string") ])) objects;
  known (dynarray float) boxes;
  known (dynarray (option string)) shrunk;
  report ()

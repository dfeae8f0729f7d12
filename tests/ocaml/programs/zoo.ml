(* zoo SIZE: one of every kind of block and of root that a program has; SIZE is how many of the
   common ones. *)

external register : 'a -> 'b -> unit = "stubs_register"
external handle : int -> Obj.t = "stubs_handle"
external abstract : int -> Obj.t = "stubs_abstract"
external with_local : (unit -> 'a) -> 'b -> 'a = "stubs_with_local"

let size = int_of_string Sys.argv.(1)

(* Tables and trees of records, with strings of every length. *)

type part = { label : string; mutable stock : int; price : float; mutable bundle : part list }

module Numbers = Map.Make (Int)

let catalogue : (string, part) Hashtbl.t = Hashtbl.create 16
let by_number = ref Numbers.empty

type box = Empty | Full of part | Sealed of { seal : string; inside : box }

let boxes = ref []

let fill () =
  for i = 1 to size do
    let label = String.make (i mod 41) 'x' ^ string_of_int i in
    let part = { label; stock = i; price = float_of_int i /. 4.; bundle = [] } in
    if i > 8 then part.bundle <- [ Hashtbl.find catalogue (string_of_int (i / 2)); part ];
    Hashtbl.replace catalogue (string_of_int i) part;
    if i mod 2 = 0 then by_number := Numbers.add i part !by_number;
    if i mod 5 = 0 then
      boxes := Sealed { seal = Printf.sprintf "%x" i; inside = (if i mod 10 = 0 then Empty else Full part) } :: !boxes
  done

(* Values with tags of their own. *)

type note = [ `Nothing | `Number of int | `Both of int * [ `Text of string ] ]

let variants : note list ref = ref []

let polymorphic i : note =
  match i mod 3 with
  | 0 -> `Nothing
  | 1 -> `Number i
  | _ -> `Both (i, `Text (string_of_int i))

class animal name =
  object (self)
    val mutable age = 0
    val names = [ name; String.uppercase_ascii name ]
    method grow = age <- age + List.length names
    method tell = self#grow; age
  end

class bird name wings =
  object
    inherit animal name
    val wings : float = wings
    method span = wings *. 2.
  end

let animals : animal list ref = ref []

(* Unforced, forced, forwarded to a float, of a constant. *)
let lazies : float list Lazy.t list ref = ref []
let lazy_floats : float Lazy.t list ref = ref []

exception Broken of string * int

let exceptions = ref []

let raise_local i =
  let exception Inner of int list in
  try raise (Inner [ i; i + 1 ]) with e -> e

(* Closures: of a loop, partial applications, mutually recursive ones that share a block. *)
let functions : (int -> int) list ref = ref []

let three_recursive a b =
  let rec first n = if n <= 0 then a else second (n - 1)
  and second n = if n <= 0 then b else third (n - 1) 1
  and third n step = if n <= 0 then a * b else first (n - step) in
  if a land 1 = 0 then second else first

let add a b c = a + b + c

(* Numbers in every representation. *)
let float_arrays : float array list ref = ref []
let float_records : Complex.t list ref = ref []
let boxed : (int64 * int32 * nativeint * float) list ref = ref []
let matrices : (float, Bigarray.float64_elt, Bigarray.c_layout) Bigarray.Array2.t list ref = ref []
let bytes_outside : (char, Bigarray.int8_unsigned_elt, Bigarray.fortran_layout) Bigarray.Array1.t list ref = ref []
let handles = ref []
let abstracts = ref []
let empties : int array list ref = ref []

module type SHAPE = sig
  val area : unit -> float
end

let shapes : (module SHAPE) list ref = ref []

let shape i : (module SHAPE) =
  (module struct
    let side = float_of_int i
    let area () = side *. side
  end)

let cyclic i =
  let rec loop = i :: string_length :: loop and string_length = i + 1 in
  loop

let cycles = ref []
let copies : part list ref = ref []

let collect () =
  for i = 1 to 1 + (size / 50) do
    variants := polymorphic i :: !variants;
    animals := (if i mod 2 = 0 then new animal "ant" else (new bird "owl" (float_of_int i) :> animal)) :: !animals;
    List.iter (fun (a : animal) -> ignore a#tell) [ List.hd !animals ];
    let delayed = lazy (List.init 3 (fun k -> float_of_int (i + k))) in
    if i mod 3 = 0 then ignore (Lazy.force delayed);
    lazies := delayed :: lazy [ 1.; 2. ] :: !lazies;
    let number = lazy (float_of_int i *. 1.5) in
    ignore (Lazy.force number);
    lazy_floats := number :: !lazy_floats;
    exceptions := Broken ("part", i) :: raise_local i :: Not_found :: !exceptions;
    functions := three_recursive i (i + 1) :: add i (2 * i) :: (fun x -> x + i) :: !functions;
    float_arrays := Array.init (i mod 30 + 1) float_of_int :: !float_arrays;
    float_records := { Complex.re = float_of_int i; im = 0.5 } :: !float_records;
    boxed := (Int64.of_int i, Int32.of_int i, Nativeint.of_int i, float_of_int i) :: !boxed;
    handles := handle i :: !handles;
    abstracts := abstract (i mod 7 + 1) :: !abstracts;
    empties := [||] :: Array.sub [| i |] 0 0 :: !empties;
    shapes := shape i :: !shapes;
    cycles := cyclic i :: !cycles
  done;
  for i = 1 to 5 do
    matrices := Bigarray.Array2.create Bigarray.float64 Bigarray.c_layout i 100 :: !matrices;
    bytes_outside := Bigarray.Array1.create Bigarray.char Bigarray.fortran_layout (1000 * i) :: !bytes_outside
  done;
  let part = Hashtbl.find catalogue "1" in
  copies := Marshal.from_string (Marshal.to_string [ part; part; { part with stock = 2 } ] []) 0

(* Weak pointers and ephemerons: keys alive, keys dead, data that keeps the next key alive. *)

module Labels = Ephemeron.K1.Make (struct
  type t = part

  let equal = ( == )
  let hash part = Hashtbl.hash part.label
end)

let notes : string list Labels.t = Labels.create 16
let weak : part Weak.t = Weak.create 100
let chain_start = ref (ref 0)
let chain = ref []
let pairs = ref []
let second_keys = Array.init 61 (fun i -> ref i)

let ephemeron keys data =
  let e = Obj.Ephemeron.create (List.length keys) in
  List.iteri (fun i key -> Obj.Ephemeron.set_key e i key) keys;
  Obj.Ephemeron.set_data e data;
  e

let hold_weakly () =
  for i = 1 to 60 do
    let live = Hashtbl.find catalogue (string_of_int i) in
    let dead = { live with stock = -i } in
    Labels.replace notes live [ "of"; live.label ];
    Labels.replace notes dead [ "lost"; string_of_int i ];
    Weak.set weak i (Some (if i mod 2 = 0 then live else dead));
    pairs :=
      ephemeron [ Obj.repr live; Obj.repr dead ] (Obj.repr [ i ])
      :: ephemeron [ Obj.repr live; Obj.repr second_keys.(i) ] (Obj.repr [ i; i ])
      :: !pairs
  done;
  (* Each data is the key of the next one: only a fixpoint finds them all, whatever the order. *)
  let key = ref !chain_start in
  for i = 1 to 40 do
    let next = ref i in
    let e = ephemeron [ Obj.repr !key ] (Obj.repr (next, string_of_int i)) in
    chain := (if i mod 2 = 0 then e :: !chain else !chain @ [ e ]);
    key := next
  done

(* Static data: nothing of it is in the heap. *)
let motto = [ "static"; "data"; "is"; "not"; "in"; "the"; "heap" ]
let nested_constant = Some (1, 2.5, [ "a", [| 1; 2 |] ])
let rec is_even n = n = 0 || is_odd (n - 1)
and is_odd n = n <> 0 && is_even (n - 1)

let finalised = ref 0

let finalise () =
  let kept = Hashtbl.find catalogue "2" in
  let only_of_function = List.init 30 string_of_int in
  Gc.finalise (fun (_ : part) -> finalised := !finalised + List.length only_of_function) kept;
  Gc.finalise_last (fun () -> incr finalised) (Hashtbl.find catalogue "3");
  for i = 1 to 20 do
    Gc.finalise (fun r -> finalised := !finalised + !r) (ref i)
  done

(* Threads that wait deep in a recursion, each holding a list that is nowhere else. *)

let started = ref 0
let never = Mutex.create ()

let rec descend depth held =
  if depth = 0 then begin
    incr started;
    Mutex.lock never;
    List.length held
  end
  else
    let text = string_of_int depth in
    let below = descend (depth - 1) (if depth mod 10 = 0 then text :: held else held) in
    below + String.length text

let start_threads () =
  Mutex.lock never;
  for i = 1 to 3 do
    ignore (Thread.create (fun () -> descend 60 (List.init (100 * i) string_of_int)) ())
  done;
  while !started < 3 do
    Thread.delay 0.01
  done

let named name v = (name, Obj.repr v)

let report () =
  Report.ready
    [ named "catalogue" catalogue; named "by_number" !by_number; named "boxes" !boxes;
      named "variants" !variants; named "animals" !animals; named "lazies" !lazies;
      named "lazy_floats" !lazy_floats; named "exceptions" !exceptions; named "functions" !functions;
      named "float_arrays" !float_arrays; named "float_records" !float_records; named "boxed" !boxed;
      named "matrices" !matrices; named "handles" !handles; named "abstracts" !abstracts;
      named "shapes" !shapes; named "cycles" !cycles; named "copies" !copies; named "weak" weak;
      named "pairs" !pairs; named "chain" !chain; named "motto" motto;
      named "nested_constant" nested_constant; named "is_even" is_even ]

let () =
  fill ();
  collect ();
  hold_weakly ();
  finalise ();
  register (List.init 100 ref) (Array.init 200 string_of_int);
  Callback.register "heapgraph.tests.named" (List.init 50 (fun i -> (i, float_of_int i)));
  start_threads ();
  with_local
    (fun () -> report (); Report.wait ())
    (Array.init 10 string_of_int)

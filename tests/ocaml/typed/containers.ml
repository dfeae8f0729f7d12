(* What the standard library keeps things in; boxed numbers; deep lists and large arrays. *)
open Truth

let times n make = List.init n make
let text i = "text " ^ string_of_int i

type job = { id : int; label : string; after : job list; cost : float option }

let rec job_t =
  lazy
    (typ "Containers.job" (fun { id; label; after; cost } ->
         [ id @: int; label @: string; after @: list (Lazy.force job_t); cost @: option float ]))

let job_t = Lazy.force job_t
let job i = { id = i; label = text i; after = []; cost = (if i mod 2 = 0 then Some (float_of_int i) else None) }

let waiting : job Queue.t = Queue.create ()
let () = for i = 1 to 60 do Queue.add { (job i) with after = times (i mod 3) job } waiting done
let done_ : (string * int) Stack.t = Stack.create ()
let () = for i = 1 to 50 do Stack.push (text i, i) done_ done
let by_id : (int, job) Hashtbl.t = Hashtbl.create 16
let () = Queue.iter (fun j -> Hashtbl.replace by_id j.id j) waiting
let by_label : (string, job list ref) Hashtbl.t = Hashtbl.create 1

let () =
  for i = 1 to 100 do
    let name = text (i mod 30) in
    match Hashtbl.find_opt by_label name with
    | Some jobs -> jobs := job i :: !jobs
    | None -> Hashtbl.add by_label name (ref [ job i ])
  done

let tables : (int * int, (string, bool) Hashtbl.t) Hashtbl.t = Hashtbl.create 4

let () =
  for i = 1 to 10 do
    let inner = Hashtbl.create 2 in
    for k = 1 to i do Hashtbl.add inner (text k) (k mod 2 = 0) done;
    Hashtbl.add tables (i, i * i) inner
  done

let buffers = times 8 (fun i -> let b = Buffer.create 4 in Buffer.add_string b (text (i * 1000)); b)
let floats = Array.init 500 float_of_int
let float_rows = Array.init 20 (fun i -> Array.init (i + 1) (fun k -> float_of_int (i * k)))
let float_list = times 100 float_of_int
let float_refs = times 10 (fun i -> ref (float_of_int i))
let floatarrays = times 5 (fun i -> Float.Array.init (i + 1) float_of_int)
let int64s = times 20 Int64.of_int
let int32s = Array.init 20 Int32.of_int
let nativeints = times 20 (fun i -> Some (Nativeint.of_int i))
let complexes = times 20 (fun i -> { Complex.re = float_of_int i; im = 1. })
let blobs = Array.init 20 (fun i -> Bytes.make (1 + (i * 37)) 'b')
let strings = Array.init 3000 text
let pairs = Array.init 2000 (fun i -> (i, text i))
let options = Array.init 400 (fun i -> if i mod 3 = 0 then None else Some [ i ])
let empty_arrays : string array list = times 3 (fun _ -> [||])
let matrix = Array.make_matrix 30 30 0
let deep = times 5000 (fun i -> i)
let deep_pairs = times 2000 (fun i -> (i, Some (text i)))

type chained = End | Link of chained * string

let rec chained_t =
  lazy (typ "Containers.chained" (function End -> [] | Link (c, s) -> [ c @: Lazy.force chained_t; s @: string ]))

let chain =
  let c = ref End in
  for i = 1 to 3000 do c := Link (!c, text i) done;
  !c

let vectors = times 5 (fun i -> Bigarray.Array1.create Bigarray.float64 Bigarray.c_layout (i + 1))
let grids = Array.init 3 (fun i -> Bigarray.Array2.create Bigarray.int32 Bigarray.fortran_layout (i + 1) 2)
let vector_t = opaque "(float, Bigarray.float64_elt, Bigarray.c_layout) Bigarray.Array1.t"
let grid_t = opaque "(int32, Bigarray.int32_elt, Bigarray.fortran_layout) Bigarray.Array2.t"
let channels = [ stdout; stderr ]
let atomics = times 10 (fun i -> Atomic.make (times 2 (fun k -> text (i + k))))
(* Until 5.0 it is an abbreviation. *)
let atomic_path = if Sys.ocaml_version < "5" then "CamlinternalAtomic.t" else "Atomic.t"
let atomic_t a = typ1 atomic_path a (fun r -> [ Atomic.get r @: a ])
let weak : string list Weak.t = Weak.create 10
let weakly_held = times 9 (fun i -> times 2 (fun k -> text (i + k)))
let () = List.iteri (fun i l -> Weak.set weak i (Some l)) weakly_held
let weak_t a = typ1 "Weak.t" a (fun _ -> [])

(* Only ephemerons and weak sets lead to these: their data and elements hang on no variable. *)
module Name = struct
  type t = string ref

  let equal = ( == )
  let hash r = Hashtbl.hash !r
end

module Number = struct
  type t = int * bool

  let equal = ( = )
  let hash = Hashtbl.hash
end

module Of_name = Ephemeron.K1.Make (Name)
module Of_both = Ephemeron.K2.Make (Name) (Number)
module Of_many = Ephemeron.Kn.Make (Number)
module Shared = Weak.Make (Number)

let of_name : (int * string list) Of_name.t = Of_name.create 10
let of_both : string option ref Of_both.t = Of_both.create 10
let of_many : job array Of_many.t = Of_many.create 10
let shared = Shared.create 10

let remember i name =
  let number = (i, i mod 2 = 0) in
  let listed = (i, times (i mod 3) text) and optional = ref (Some (text i)) and jobs = [| job i |] in
  Of_name.replace of_name name listed;
  Of_both.replace of_both (name, number) optional;
  Of_many.replace of_many [| number; number |] jobs;
  known (pair int (list string)) listed;
  known (reference (option string)) optional;
  known (array job_t) jobs;
  known (pair int bool) (Shared.merge shared number)

let names = times 10 (fun i -> ref (text i))
let () = List.iteri remember names
let results : (job, string * int) result array = Array.init 20 (fun i -> if i mod 2 = 0 then Ok (job i) else Error (text i, i))
let position = { Lexing.pos_fname = text 1; pos_lnum = 1; pos_bol = 0; pos_cnum = 0 }
let position_t = typ "Lexing.position" (fun { Lexing.pos_fname; _ } -> [ pos_fname @: string ])
let positions = times 5 (fun i -> { position with Lexing.pos_cnum = i })
let quads = times 10 (fun i -> (i, text i, Some i, [| text i |]))
let triples = Array.init 10 (fun i -> (text i, float_of_int i, (i, text i)))
let list_of_refs = times 10 (fun i -> ref (Some (ref i)))
let copies : (job * job) list = Marshal.from_string (Marshal.to_string (times 20 (fun i -> (job i, job (i + 1)))) []) 0

let () =
  known (queue job_t) waiting;
  known (stack (pair string int)) done_;
  known (hashtbl int job_t) by_id;
  known (hashtbl string (reference (list job_t))) by_label;
  known (hashtbl (pair int int) (hashtbl string bool)) tables;
  known (list buffer) buffers;
  known (array float) floats;
  known (array (array float)) float_rows;
  known (list float) float_list;
  known (list (reference float)) float_refs;
  known (list floatarray) floatarrays;
  known (list int64) int64s;
  known (array int32) int32s;
  known (list (option nativeint)) nativeints;
  known (list (opaque "Complex.t" : Complex.t ty)) complexes;
  known (array bytes) blobs;
  known (array string) strings;
  known (array (pair int string)) pairs;
  known (array (option (list int))) options;
  known (list (array string)) empty_arrays;
  known (array (array int)) matrix;
  known (list int) deep;
  known (list (pair int (option string))) deep_pairs;
  known (Lazy.force chained_t) chain;
  known (list vector_t) vectors;
  known (array grid_t) grids;
  known (list (opaque "out_channel" : out_channel ty)) channels;
  known (list (atomic_t (list string))) atomics;
  known (weak_t (list string)) weak;
  known (list (list string)) weakly_held;
  known (array (result job_t (pair string int))) results;
  known (list position_t) positions;
  known (list (quadruple int string (option int) (array string))) quads;
  known (array (triple string float (pair int string))) triples;
  known (list (reference (option (reference int)))) list_of_refs;
  known (list (pair job_t job_t)) copies;
  report ()

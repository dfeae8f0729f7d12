(* Lines that make values of a type say so, "makes TYPE"; those that call what makes them, "calls
   TYPE"; those where globals are defined, "defines NAME"; where functions are whose closures the heap
   has, "function". *)
module Names = Map.Make (String)

type item = { label : string; mutable next : item option }
type shape = Dot | Circle of float | Box of { width : float; height : float }
type sample = { x : float; y : float }

let sampling =
  match Sys.getenv_opt "SAMPLE" with
  | Some rate -> ignore (Heapgraph.sample ~rate:(float_of_string rate) ())
  | None -> ()

let count = int_of_string Sys.argv.(1)
let items : item list ref = ref [] (* makes Made.item list ref; defines items *)
let table : (string, shape) Hashtbl.t = Hashtbl.create count (* makes (string, Made.shape) Hashtbl.t; defines table *)
let names = ref Names.empty (* defines names *)
let rack : item Shelf.t = Shelf.create () (* has Made.item Shelf.t; defines rack *)
let depot : sample Depot.t = Depot.create () (* makes Made.sample Depot.t; defines depot *)
let actions : (unit -> unit) Queue.t = Queue.create () (* defines actions *)

let
  adders = (* defines adders *)
  ref []

let add3 x y z = x + y + z (* function add3 *)

let shape n =
  if n mod 3 = 0 then Dot
  else if n mod 3 = 1 then Circle (float_of_int n) (* makes Made.shape *)
  else
    Box { width = 1.5; (* makes Made.shape *)
          height = float_of_int n }

let fill n =
  let label = "item " ^ string_of_int n in
  let item =
    { label; next = None } (* makes Made.item *)
  in
  (match !items with
  | previous :: _ ->
      item.next <- Some previous (* makes Made.item option *)
  | [] -> ());
  items := item :: !items; (* makes Made.item list *)
  Hashtbl.replace table label (shape n); (* calls (string, Made.shape) Hashtbl.bucketlist *)
  names :=
    Names.add label (n, label) !names; (* makes int * string; makes (int * string) Map.Make(String).t *)
  Shelf.put rack item;
  Depot.add depot
    { x = float_of_int n; y = 0.5 }; (* makes Made.sample *)
  Queue.add
    (fun () -> Hashtbl.remove table label) (* function *)
    actions;
  adders := Sys.opaque_identity add3 n n :: !adders

let arrays = (* defines arrays *)
  Array.make count (* makes Made.item option array *)
    None

let () =
  for n = 1 to count do
    fill n;
    arrays.(n - 1) <- Some (List.hd !items) (* makes Made.item option *)
  done;
  print_endline "READY";
  while true do
    Unix.sleep 1000
  done

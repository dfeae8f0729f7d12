(* heapgraph-prof: the types of a program for heapgraph. *)

let output = ref "exe.prof"
let directories = ref []

let usage = "heapgraph-prof [-o FILE] [--exe FILE] [-v] DIR..."

let export t (u : Units.t) =
  let block, symbols, places =
    match Load.structure u with
    | None -> (Globals.of_interface u, [], [])
    | Some str ->
        Places.collect_values str;
        let block = Globals.of_implementation u str in
        let symbols = Globals.symbols u str in
        let places =
          Places.of_unit u str ~add_function:(Output.func t) ~add_extension:(Output.extension t)
        in
        (block, symbols, places)
  in
  List.iter (Output.class_record t u) (List.rev u.class_records);
  Convert.fill_pending ();
  if u.interface <> None || u.implementation <> None then Output.globals t u block;
  List.iter (Output.value t u) symbols;
  List.iter (Output.place t u) places

let main () =
  Arg.parse
    (Arg.align [ ("-o", Arg.Set_string output, "FILE output"); ("-v", Arg.Set Messages.verbose, " details") ])
    (fun d -> directories := d :: !directories)
    usage;
  let directories = List.rev !directories in
  Load.roots := directories;
  let rank f = if Filename.check_suffix f ".cmt" then 0 else if Filename.check_suffix f ".cmi" then 1 else 2 in
  let files = List.concat_map Load.files_below directories in
  let files = List.stable_sort (fun a b -> compare (rank a) (rank b)) files in
  List.iter Load.load files;
  Load.add_load_path "" Config.standard_library;
  Load.load_import "Stdlib";
  Load.load_imports ();
  let units = Units.sorted () in
  List.iter Index.interface units;
  let channel = open_out_bin !output in
  let t = Output.create channel in
  List.iter (Output.unit_record t) units;
  List.iter (export t) units;
  Output.types t;
  Output.finish t

let () = main ()

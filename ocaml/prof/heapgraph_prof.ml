(* heapgraph-prof: writes the types of a program for heapgraph.

   Two passes over the .cmt: the first keeps declarations and skeletons of modules of all units, the
   second takes each unit's expressions once more, writes what is in them and forgets them. *)

let usage =
  "Usage: heapgraph-prof [-o FILE] [--exe FILE] [-v] DIR...\n\n\
   Writes what heapgraph needs to know the types of blocks, from the .cmt, .cmi and .cmti\n\
   files below each DIR and from those of the libraries that these refer to.\n\n\
   With dune:  dune build @check && heapgraph-prof -o exe.prof _build\n\
   Without:    ocamlopt -bin-annot ...; heapgraph-prof -o exe.prof .\n"

type options = { output : string; exe : string option; inputs : string list }

(* As those of heapgraph. *)
let exit_usage = 2
let exit_input = 3
let exit_resource = 5

let fail code fmt =
  Printf.ksprintf
    (fun s ->
      Messages.say "%s" s;
      exit code)
    fmt

let options () =
  let output = ref "exe.prof" and exe = ref None and inputs = ref [] in
  let version () =
    Printf.printf "heapgraph-prof for OCaml %s\n" Sys.ocaml_version;
    exit 0
  in
  let specs =
    Arg.align
      [ ("-o", Arg.Set_string output, "FILE  the output, exe.prof by default");
        ("--output", Arg.Set_string output, "FILE  the same");
        ("--exe", Arg.String (fun s -> exe := Some s),
         "FILE  the executable: only units that are linked into it, and of several units of \
          one name that one");
        ("-v", Arg.Set Messages.verbose, "  details of what is found and what is not");
        ("--verbose", Arg.Set Messages.verbose, "  the same");
        ("--version", Arg.Unit version, "  the version of OCaml that it is for") ]
  in
  (try Arg.parse_argv Sys.argv specs (fun input -> inputs := input :: !inputs) usage with
  | Arg.Help text ->
      print_string text;
      exit 0
  | Arg.Bad text ->
      prerr_string text;
      exit exit_usage);
  if !inputs = [] then (
    prerr_string ("heapgraph-prof: no DIR is given\n" ^ usage);
    exit exit_usage);
  { output = !output; exe = !exe; inputs = List.rev !inputs }

let load_executable path =
  if Guard.is_skipped path then fail exit_input "%s: damaged" path;
  Guard.about path;
  match Executable.load path with
  | exe -> Load.executable := Some exe
  | exception Executable.Unusable why -> fail exit_input "%s: %s" path why
  | exception Sys_error why -> fail exit_input "%s" why

(* Units that code refers to without naming them. *)
let unnamed =
  [ "Stdlib"; "CamlinternalFormat"; "CamlinternalLazy"; "CamlinternalMod"; "CamlinternalOO";
    "Std_exit" ]

(* Given as a DIR. *)
let refuse_executable path =
  match Executable.load path with
  | _ ->
      fail exit_input "%s is an executable: heapgraph-prof --exe %s DIR, where its .cmt files are" path
        (Filename.quote path)
  | exception (Executable.Unusable _ | Sys_error _) -> ()

(* The first pass. *)
let load o =
  Option.iter load_executable o.exe;
  List.iter
    (fun input -> if not (Sys.file_exists input) then fail exit_input "%s: there is no such file" input)
    o.inputs;
  Load.roots := o.inputs @ List.map (fun input -> Filename.concat input "default") o.inputs;
  let count = Load.load_all o.inputs in
  if Hashtbl.length Units.all = 0 then (
    List.iter refuse_executable o.inputs;
    fail exit_input "%s in %s: compile with 'dune build @check' or -bin-annot"
      (if count = 0 then "no .cmt, .cmi or .cmti" else "no readable .cmt, .cmi or .cmti")
      (String.concat ", " o.inputs));
  Load.add_load_path "" Config.standard_library;
  List.iter Load.load_import unnamed;
  Option.iter (fun exe -> List.iter Load.load_import (Executable.linked exe)) !Load.executable;
  Load.load_imports ();
  Load.check_interfaces ();
  let units = Units.sorted () in
  List.iter
    (fun (u : Units.t) ->
      Guard.about u.interface_file;
      Index.interface u)
    units;
  units

let globals t (u : Units.t) block =
  if u.interface <> None || u.implementation <> None then Output.globals t u block

(* The second pass, for one unit; types are filled in last, when places have been met. *)
let export t (u : Units.t) =
  Guard.about (Units.file_of u);
  Convert.forget_values ();
  (match Load.structure u with
  | None -> globals t u (Globals.of_interface u)
  | Some str ->
      Places.collect_values str;
      globals t u (Globals.of_implementation u str);
      List.iter (Output.value t u) (Globals.symbols u str);
      List.iter (Output.class_record t u) (List.rev u.class_records);
      let add_function = Output.func t and add_extension = Output.extension t in
      List.iter (Output.place t u) (Places.of_unit u str ~add_function ~add_extension));
  Convert.fill_pending ();
  Memory.tidy ()

let write t units =
  List.iter
    (fun u ->
      Guard.about (Units.file_of u);
      if Load.is_named u then Output.unit_record t u)
    units;
  List.iter (fun u -> if Load.is_linked u then export t u) units;
  Guard.about "";
  Output.types t

(* Beside the output, so that there is never half a one. *)
let beside path = path ^ ".tmp"

let remove path = try Sys.remove path with Sys_error _ -> ()

let write_file path units =
  try
    let t = Output.create (open_out_bin (beside path)) in
    try
      write t units;
      Output.finish t;
      Sys.rename (beside path) path
    with e ->
      close_out_noerr t.channel;
      remove (beside path);
      raise e
  with Sys_error why -> fail exit_resource "%s" why

let () =
  let o = options () in
  let work () =
    let units = load o in
    write_file o.output units;
    Summary.print o.output (List.filter Load.is_linked units)
  in
  exit (Guard.run work ~try_out:Load.try_out ~clean_up:(fun () -> remove (beside o.output)))

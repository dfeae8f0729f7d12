(* Finds and reads .cmt, .cmti and .cmi files. *)

open Units

(* Each file of a tree with one of these suffixes; folders are listed in order of names. *)
let suffixes = [ ".cmt"; ".cmi"; ".cmti" ]

let deepest = 64

(* What units with code of their own have, and those with an interface only have not. *)
let suffixes_of_code = [ ".cmx"; ".cmo"; ".ml" ]

(* Units with code, by the names of such files, wherever they are: dune has folders for each kind. *)
let compiled : (string, unit) Hashtbl.t = Hashtbl.create 100

let unit_of_file path = String.capitalize_ascii Filename.(remove_extension (basename path))
let has_suffix suffixes path = List.exists (Filename.check_suffix path) suffixes

let rec walk depth found path =
  if depth > deepest then found
  else if try Sys.is_directory path with Sys_error _ -> false then (
    match Sys.readdir path with
    | exception Sys_error reason ->
        Messages.warn "%s" reason;
        found
    | names ->
        Array.sort compare names;
        Array.fold_left (fun found name -> walk (depth + 1) found (Filename.concat path name)) found names)
  else (
    if has_suffix suffixes_of_code path then Hashtbl.replace compiled (unit_of_file path) ();
    if has_suffix suffixes path then path :: found else found)

let files_below path = List.rev (walk 0 [] path)

let magic_of file =
  let channel = open_in_bin file in
  Fun.protect
    ~finally:(fun () -> close_in channel)
    (fun () -> try really_input_string channel 12 with End_of_file -> "")

(* Why the compiler's own functions cannot read it: the first letters tell what wrote it. *)
let unfit file =
  let mine =
    if Filename.check_suffix file ".cmt" then [ Config.cmt_magic_number; Config.cmi_magic_number ]
    else [ Config.cmi_magic_number ]
  in
  match magic_of file with
  | exception Sys_error reason -> Some reason
  | magic when List.mem magic mine -> (
      match Marshalled.damage file with
      | what -> Option.map (( ^ ) "damaged: ") what
      | exception Sys_error reason -> Some reason)
  | magic when Names.has_prefix "Caml1999" magic || Names.has_prefix "Caml2012" magic ->
      Some
        (Printf.sprintf "written by another version of OCaml (%S, not %S of OCaml %s)" magic
           (List.hd mine) Sys.ocaml_version)
  | _ -> Some "not a file of the OCaml compiler, or cut short"

let reason = function
  | Cmi_format.Error e -> Format.asprintf "%a" Cmi_format.report_error e
  | Cmt_format.Error (Not_a_typedtree _) -> "it has no typed tree"
  | End_of_file -> "damaged, or cut short"
  | Failure s | Invalid_argument s -> "damaged: " ^ String.escaped s
  | Sys_error s -> "damaged: " ^ s
  | e -> "damaged: " ^ Printexc.to_string e

let refuse file why = Messages.warn "%s: skipped: %s" file why

let nowhere = Format.make_formatter (fun _ _ _ -> ()) ignore

(* Meets all types that others may use: a damaged one ends it here. *)
let look_closely ((cmi : Cmi_format.cmi_infos option), (cmt : Cmt_format.cmt_infos option)) =
  let look signature =
    try Printtyp.signature nowhere signature with
    | (Stack_overflow | Out_of_memory) as e -> raise e
    | _ -> ()
  in
  Option.iter (fun (c : Cmi_format.cmi_infos) -> look c.cmi_sign) cmi;
  match cmt with
  | Some { cmt_annots = Implementation s; _ } -> look s.str_type
  | Some { cmt_annots = Interface s; _ } -> look s.sig_type
  | Some { cmt_annots = Packed (signature, _); _ } -> look signature
  | _ -> ()

(* Compressed values cannot be looked at before they are read, so that damaged ones may refer to what is
   no block, or lie across others: the collector then ends it here, rather than later at another file. *)
let try_out file =
  let contents = Cmt_format.read file in
  look_closely contents;
  Gc.full_major ();
  ignore (Sys.opaque_identity contents)

(* The units and digests that it names; what they are not would be met when they are written. *)
let named ((cmi : Cmi_format.cmi_infos option), (cmt : Cmt_format.cmt_infos option)) =
  Option.fold ~none:[] ~some:(fun (c : Cmi_format.cmi_infos) -> (c.cmi_name, None) :: c.cmi_crcs) cmi
  @ Option.fold ~none:[]
      ~some:(fun (c : Cmt_format.cmt_infos) ->
        (c.cmt_modname, c.cmt_source_digest)
        :: (c.cmt_modname, c.cmt_interface_digest)
        :: c.cmt_imports)
      cmt

(* What no compiler has written in it. *)
let flaw contents =
  let is_digest d = String.length d = 16 in
  let is_name s = s <> "" && String.for_all (fun c -> c >= ' ' && c <> '\127') s in
  let named = named contents in
  if not (List.for_all (fun (_, digest) -> Option.fold ~none:true ~some:is_digest digest) named) then
    Some "a digest has another length"
  else
    Option.map
      (fun (name, _) -> Printf.sprintf "%S is no name of a unit" name)
      (List.find_opt (fun (name, _) -> not (is_name name)) named)

(* The file's contents, or a warning. *)
let read file =
  Guard.about file;
  let fault =
    match unfit file with
    | None when !Guard.careful -> Option.map (( ^ ) "damaged: ") (Guard.tried file)
    | fault -> fault
  in
  match fault with
  | Some why ->
      refuse file why;
      None
  | None -> (
      match Cmt_format.read file with
      | _, None when not (Filename.check_suffix file ".cmi") ->
          refuse file "damaged, or cut short";
          None
      | contents -> (
          match flaw contents with
          | None -> Some contents
          | Some what ->
              refuse file ("damaged: " ^ what);
              None)
      | exception ((Out_of_memory | Sys.Break) as e) -> raise e
      | exception e ->
          refuse file (reason e);
          None)

let rec pack_of = function
  | "-for-pack" :: pack :: _ -> pack
  | _ :: rest -> pack_of rest
  | [] -> ""

(* A unit by its name in symbols; made if it is new. *)
let unit_of ~pack modname =
  let name = symbol_name ~pack modname in
  match Hashtbl.find_opt all name with
  | Some u -> u
  | None ->
      let u = create ~pack modname in
      Hashtbl.add all name u;
      u

(* Interfaces and imports do not say what pack a unit belongs to. *)
let known_unit modname =
  match Hashtbl.find_opt all modname with
  | Some u -> Some u
  | None ->
      let member _ u found = if u.modname = modname then Some u else found in
      Hashtbl.fold member all None

let unit_of_interface modname =
  match known_unit modname with Some u -> u | None -> unit_of ~pack:"" modname

(* Where sources and libraries of a unit are looked for: relative to the folder in which it was
   compiled, or what that folder is now. *)
let roots : string list ref = ref []

let find_file builddir path =
  if Filename.is_relative path then
    List.find_opt Sys.file_exists
      (List.map (fun root -> Filename.concat root path) (builddir :: !roots))
  else if Sys.file_exists path then Some path
  else None

let met_load_paths : (string * string, unit) Hashtbl.t = Hashtbl.create 16
let load_path : string list ref = ref []

let add_load_path builddir dir =
  let dir = if dir = "" then "." else dir in
  if not (Hashtbl.mem met_load_paths (builddir, dir)) then (
    Hashtbl.add met_load_paths (builddir, dir) ();
    match find_file builddir dir with
    | Some dir when not (List.mem dir !load_path) -> load_path := !load_path @ [ dir ]
    | _ -> ())

(* Units of which there is something to say. *)
let changed : string list ref = ref [] (* the source is another one now *)
let mismatched : string list ref = ref [] (* of another interface *)
let duplicated : string list ref = ref []

let note list name = if not (List.mem name !list) then list := name :: !list

let check_source u (c : Cmt_format.cmt_infos) =
  match (c.cmt_sourcefile, c.cmt_source_digest) with
  | Some source, Some digest -> (
      match find_file c.cmt_builddir source with
      | Some path when (try Compat.file_digest path <> digest with Sys_error _ -> false) ->
          Messages.detail "%s: %s has changed since" u.cmt path;
          note changed u.name
      | _ -> ())
  | _ -> ()

(* The digest of its interface that an implementation was compiled with. *)
let expected_crc (c : Cmt_format.cmt_infos) =
  match List.assoc_opt c.cmt_modname c.cmt_imports with
  | Some (Some _ as digest) -> digest
  | _ -> c.cmt_interface_digest

let implementation u file (c : Cmt_format.cmt_infos) structure =
  u.cmt <- file;
  u.source <- Option.value c.cmt_sourcefile ~default:"";
  u.builddir <- c.cmt_builddir;
  u.imports <- c.cmt_imports;
  u.crc <- expected_crc c;
  u.source_digest <- c.cmt_source_digest;
  check_source u c;
  Index.implementation u structure;
  Classes.index u structure

(* Several units of one name: that is taken which fits the executable best, else the first one. *)
let executable : Executable.t option ref = ref None

let common_prefix a b =
  let n = min (String.length a) (String.length b) in
  let rec go i = if i < n && a.[i] = b.[i] then go (i + 1) else i in
  go 0

(* The file with another suffix beside it; dune keeps native code in a folder of its own. *)
let beside file suffix =
  let dir = Filename.dirname file in
  let base = Filename.(remove_extension (basename file)) ^ suffix in
  let native =
    if Filename.basename dir = "byte" then [ Filename.(concat (concat (dirname dir) "native") base) ]
    else []
  in
  Filename.concat dir base :: native

(* What tells most comes first: the very code, the interface, and what fits its symbols and path. *)
let score (exe : Executable.t) name file crc (str : Typedtree.structure) =
  let same_code = List.exists (Executable.has_code exe name) (beside file ".cmx") in
  let idents = Globals.defined_idents str.str_items in
  let has id = Executable.has_symbol exe ~unit_name:name (ident_key id) in
  let symbols = List.length (List.filter has idents) in
  ( same_code,
    Executable.has_interface exe name crc,
    symbols - List.length idents,
    common_prefix exe.path file )

let read_structure file =
  match read file with
  | Some (_, Some { cmt_annots = Implementation s; _ }) -> Some s
  | _ -> None

let fits_better u file (c : Cmt_format.cmt_infos) structure =
  match (!executable, read_structure u.cmt) with
  | None, _ -> false
  | Some _, None -> true
  | Some exe, Some old ->
      Guard.about file;
      score exe u.name file (expected_crc c) structure > score exe u.name u.cmt u.crc old

let another_implementation u file (c : Cmt_format.cmt_infos) structure =
  if c.cmt_source_digest = u.source_digest && expected_crc c = u.crc then
    Messages.detail "%s: the same as %s" file u.cmt
  else (
    note duplicated u.name;
    let better = fits_better u file c structure in
    let taken, other = if better then (file, u.cmt) else (u.cmt, file) in
    Messages.detail "%s: there are two of it: %s is taken, %s is not" u.name taken other;
    if better then (
      Units.forget u;
      implementation u file c structure))

let set_interface u file signature =
  u.interface <- Some { signature; items = components signature };
  u.interface_file <- file

let cmt_contents file (c : Cmt_format.cmt_infos) =
  let pack = pack_of (Array.to_list c.cmt_args) in
  let u = unit_of ~pack c.cmt_modname in
  List.iter (add_load_path c.cmt_builddir) (Compat.load_path c);
  (match c.cmt_annots with
  | Implementation s when u.cmt = "" -> implementation u file c s
  | Implementation s -> another_implementation u file c s
  | Interface s -> if u.interface = None then set_interface u file s.sig_type
  | Packed (signature, files) ->
      set_interface u file signature;
      u.members <- List.map unit_of_file files
  | Partial_implementation _ | Partial_interface _ ->
      refuse file "of a module that could not be compiled");
  if u.imports = [] then u.imports <- c.cmt_imports;
  u

(* This one, and not what was read before, is of the interface that the executable has. *)
let is_chosen u crc =
  let known = if u.cmt <> "" then u.crc else u.interface_crc in
  match !executable with
  | Some exe -> Executable.has_interface exe u.name crc && not (Executable.agrees exe u.name known)
  | None -> false

(* Of several interfaces that is taken which the executable has, else that which the implementation
   was compiled with. *)
let interface_contents u file (c : Cmi_format.cmi_infos) =
  let crc, imports =
    match c.cmi_crcs with
    | (name, crc) :: imports when name = c.cmi_name -> (crc, imports)
    | imports -> (None, imports)
  in
  let fits = u.cmt <> "" && crc <> None && crc = u.crc in
  let is_of_pack = u.members <> [] && u.interface_crc = None in
  if is_chosen u crc then (
    if u.cmt <> "" then
      Messages.detail "%s: %s is of another program; of this one is %s" u.name u.cmt file;
    Units.forget_all u);
  if u.interface = None || is_of_pack || (fits && u.interface_crc <> u.crc) then (
    set_interface u file c.cmi_sign;
    u.interface_crc <- crc;
    if u.imports = [] then u.imports <- imports)

(* Reads a file into its unit. *)
let load ?(is_own = false) file =
  let found u = if is_own then u.is_own <- true in
  Memory.tidy ();
  match if Guard.is_skipped file then None else read file with
  | None -> ()
  | Some (cmi, cmt) -> (
      let u = Option.map (cmt_contents file) cmt in
      Option.iter found u;
      match (u, cmi) with
      | _, None -> ()
      | Some u, Some c -> if cmt = None || u.cmt = file || u.cmt = "" then interface_contents u file c
      | None, Some c ->
          let u = unit_of_interface c.cmi_name in
          found u;
          interface_contents u file c)

(* The interface is in a .cmt that has one, in the .cmi, and in the .cmti: one of them is enough. *)
let has_interface file =
  let base = Filename.remove_extension file in
  let is_read u = u.interface <> None && (u.members = [] || u.interface_crc <> None) && Filename.remove_extension u.interface_file = base in
  match Hashtbl.find_opt all (unit_of_file file) with
  | Some u -> is_read u
  | None -> false

let rank file =
  if Filename.check_suffix file ".cmt" then 0 else if Filename.check_suffix file ".cmi" then 1 else 2

(* Installed libraries in a program's folder are no part of the program: opam's switch there. *)
let is_installed directory file =
  let n = String.length directory in
  List.mem "_opam" (String.split_on_char '/' (String.sub file n (String.length file - n)))

(* All files of these folders: implementations first. *)
let load_all directories =
  let below directory =
    List.map (fun file -> (file, not (is_installed directory file))) (files_below directory)
  in
  let files = List.concat_map below directories in
  let files = List.stable_sort (fun (a, _) (b, _) -> compare (rank a) (rank b)) files in
  List.iter
    (fun (file, is_own) -> if rank file = 0 || not (has_interface file) then load ~is_own file)
    files;
  List.length files

(* With code in the executable; there, if only as an interface. *)
let of_executable p u = Option.fold ~none:true ~some:(fun exe -> p exe u.name) !executable
let is_linked = of_executable Executable.links
let is_named = of_executable Executable.names

let check_interface u =
  Guard.about (file_of u);
  match (u.crc, u.interface_crc) with
  | Some a, Some b when u.cmt <> "" && a <> b ->
      Messages.detail "%s is of another interface than %s" u.cmt u.interface_file;
      note mismatched u.name
  | _, (Some _ as crc) -> u.crc <- crc
  | _ -> ()

(* Of several units of one name, only those that were taken are known here. *)
let check_imports u =
  List.iter
    (fun (name, crc) ->
      match (Units.find ~pack:u.pack name, crc) with
      | Some v, Some crc
        when v != u && v.crc <> None && v.crc <> Some crc
             && (!executable <> None || not (List.mem v.name !duplicated)) ->
          Messages.detail "%s was compiled with another interface of %s" u.name v.name;
          note mismatched v.name
      | _ -> ())
    u.imports

(* Interfaces that implementations and users of a unit were not compiled with. *)
let check_interfaces () =
  Hashtbl.iter (fun _ u -> check_interface u) all;
  Hashtbl.iter (fun _ u -> if is_linked u then check_imports u) all

(* Of the folders of installed libraries: which files they have. *)
let listings : (string, (string, unit) Hashtbl.t) Hashtbl.t = Hashtbl.create 16

let listing dir =
  match Hashtbl.find_opt listings dir with
  | Some l -> l
  | None ->
      let l = Hashtbl.create 100 in
      (try Array.iter (fun name -> Hashtbl.replace l name ()) (Sys.readdir dir)
       with Sys_error _ -> ());
      Hashtbl.add listings dir l;
      l

let in_load_path name =
  List.find_map
    (fun dir ->
      let l = listing dir in
      List.find_map
        (fun base -> if Hashtbl.mem l base then Some (Filename.concat dir base) else None)
        [ String.uncapitalize_ascii name; name ])
    !load_path

(* The implementation of an imported unit, else its interface, from where it was compiled against. *)
let find_import name =
  let find suffix = in_load_path (name ^ suffix) in
  match (find ".cmt", find ".cmi", find ".cmti") with
  | Some cmt, cmi, cmti ->
      load cmt;
      if (match Units.find name with Some { interface = None; _ } -> true | _ -> false) then
        Option.iter (fun file -> load file) (if cmi <> None then cmi else cmti)
  | None, Some file, _ | None, None, Some file -> load file
  | None, None, None -> ()

let load_import name = if known_unit name = None then find_import name

(* Everything that is imported, as far as it is to be found. *)
let load_imports () =
  let tried = Hashtbl.create 100 in
  let rec go = function
    | [] -> ()
    | u :: rest ->
        let missing (name, _) =
          if Hashtbl.mem tried name then None
          else (
            Hashtbl.add tried name ();
            if known_unit name <> None then None
            else (
              find_import name;
              if Units.find name = None then ignore (unit_of ~pack:"" name);
              Units.find name))
        in
        go (List.rev_append (List.filter_map missing u.imports) rest)
  in
  go (Units.sorted ())

(* A unit of which only the interface was found, though it has code: its implementation is missing. *)
let is_incomplete u =
  let has suffix =
    List.exists Sys.file_exists (beside u.interface_file suffix)
    || in_load_path (u.modname ^ suffix) <> None
  in
  u.interface <> None && u.implementation = None && u.members = []
  && (Hashtbl.mem compiled u.modname || List.exists has suffixes_of_code)

(* The implementation once more, for its expressions. *)
let structure u = if u.cmt = "" then None else read_structure u.cmt

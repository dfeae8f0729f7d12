(* Finds and reads .cmt, .cmti and .cmi files. *)

open Units

(* Each file of a tree with one of these suffixes; folders are listed in order of names. *)
let suffixes = [ ".cmt"; ".cmi"; ".cmti" ]

let deepest = 64

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
  else if List.exists (Filename.check_suffix path) suffixes then path :: found
  else found

let files_below path = List.rev (walk 0 [] path)

(* Files that could not be read. *)
let unreadable = ref 0

let magic_of file =
  let channel = open_in_bin file in
  Fun.protect
    ~finally:(fun () -> close_in channel)
    (fun () -> try really_input_string channel 12 with End_of_file -> "")

(* Why the compiler's own functions would not read it: the first letters tell what wrote it. *)
let wrong_magic file =
  let mine =
    if Filename.check_suffix file ".cmt" then [ Config.cmt_magic_number; Config.cmi_magic_number ]
    else [ Config.cmi_magic_number ]
  in
  match magic_of file with
  | exception Sys_error reason -> Some reason
  | magic when List.mem magic mine -> None
  | magic when Names.has_prefix "Caml1999" magic || Names.has_prefix "Caml2012" magic ->
      Some
        (Printf.sprintf "written by another version of OCaml (%S, not %S of OCaml %s)" magic
           (List.hd mine) Sys.ocaml_version)
  | _ -> Some "not a file of the OCaml compiler, or cut short"

let reason = function
  | Cmi_format.Error e -> Format.asprintf "%a" Cmi_format.report_error e
  | Cmt_format.Error (Not_a_typedtree _) -> "it has no typed tree"
  | End_of_file -> "cut short"
  | Failure s | Sys_error s | Invalid_argument s -> "corrupt: " ^ s
  | e -> "corrupt: " ^ Printexc.to_string e

let refuse file why =
  incr unreadable;
  Messages.warn "%s: skipped: %s" file why

(* The file's contents, or a warning. *)
let read file =
  match wrong_magic file with
  | Some why ->
      refuse file why;
      None
  | None -> (
      match Cmt_format.read file with
      | contents -> Some contents
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

let set_interface u file signature =
  if u.interface = None then (
    u.interface <- Some { signature; items = components signature };
    u.interface_file <- file)

(* Where sources and libraries of a unit are looked for: relative to the folder in which it was
   compiled, or what that folder is now. *)
let roots : string list ref = ref []

let find_file builddir path =
  let candidates =
    if Filename.is_relative path then
      List.map (fun root -> Filename.concat root path) (builddir :: !roots)
    else [ path ]
  in
  List.find_opt Sys.file_exists candidates

let load_paths : (string, unit) Hashtbl.t = Hashtbl.create 16
let load_path : string list ref = ref []

let add_load_path builddir dir =
  let dir = if dir = "" then "." else dir in
  if not (Hashtbl.mem load_paths (builddir ^ "\n" ^ dir)) then (
    Hashtbl.add load_paths (builddir ^ "\n" ^ dir) ();
    match find_file builddir dir with
    | Some dir when not (List.mem dir !load_path) -> load_path := dir :: !load_path
    | _ -> ())

(* Sources that have changed since, and implementations that belong to another interface. *)
let changed : string list ref = ref []
let mismatched : string list ref = ref []

let check_source u (c : Cmt_format.cmt_infos) =
  match (c.cmt_sourcefile, c.cmt_source_digest) with
  | Some source, Some digest -> (
      match find_file c.cmt_builddir source with
      | Some path when (try Digest.file path <> digest with Sys_error _ -> false) ->
          Messages.detail "%s: compiled from other contents of %s" u.cmt path;
          changed := u.name :: !changed
      | _ -> ())
  | _ -> ()

let implementation u file (c : Cmt_format.cmt_infos) structure =
  u.cmt <- file;
  u.source <- Option.value c.cmt_sourcefile ~default:"";
  u.builddir <- c.cmt_builddir;
  u.imports <- c.cmt_imports;
  if u.crc = None then
    u.crc <- (match List.assoc_opt u.modname c.cmt_imports with Some (Some _ as d) -> d | _ -> c.cmt_interface_digest);
  check_source u c;
  Index.implementation u structure;
  Classes.index u structure

let pack_members files =
  List.map
    (fun f -> String.capitalize_ascii Filename.(remove_extension (basename f)))
    files

let cmt_contents file (c : Cmt_format.cmt_infos) =
  let pack = pack_of (Array.to_list c.cmt_args) in
  let u = unit_of ~pack c.cmt_modname in
  List.iter (add_load_path c.cmt_builddir) (Compat.load_path c);
  (match c.cmt_annots with
  | Implementation s when u.cmt = "" -> implementation u file c s
  | Implementation _ -> ()
  | Interface s -> set_interface u file s.sig_type
  | Packed (signature, files) ->
      set_interface u file signature;
      u.members <- pack_members files
  | Partial_implementation _ | Partial_interface _ ->
      refuse file "it is of a module that could not be compiled");
  if u.imports = [] then u.imports <- c.cmt_imports;
  u

let cmi_contents u file (c : Cmi_format.cmi_infos) =
  set_interface u file c.cmi_sign;
  match c.cmi_crcs with
  | (name, (Some crc as digest)) :: imports when name = c.cmi_name ->
      (match List.assoc_opt name u.imports with
      | Some (Some expected) when u.cmt <> "" && expected <> crc ->
          mismatched := u.name :: !mismatched;
          Messages.detail "%s is of another interface than %s" u.cmt file
      | _ -> ());
      u.crc <- digest;
      if u.imports = [] then u.imports <- imports
  | _ -> ()

(* Reads a file into its unit. *)
let load file =
  match read file with
  | None -> ()
  | Some (cmi, cmt) -> (
      let u = Option.map (cmt_contents file) cmt in
      match cmi with
      | None -> ()
      | Some c ->
          let u = match u with Some u -> u | None -> unit_of ~pack:"" c.cmi_name in
          cmi_contents u file c)

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
let load_import name =
  let find suffix = in_load_path (name ^ suffix) in
  match (find ".cmt", find ".cmi", find ".cmti") with
  | Some cmt, cmi, cmti ->
      load cmt;
      if (match Units.find name with Some { interface = None; _ } -> true | _ -> false) then
        Option.iter load (if cmi <> None then cmi else cmti)
  | None, Some file, _ | None, None, Some file -> load file
  | None, None, None -> ()

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
            if Units.find ~pack:u.pack name <> None then None
            else (
              load_import name;
              if Units.find name = None then ignore (unit_of ~pack:"" name);
              Units.find name))
        in
        go (List.rev_append (List.filter_map missing u.imports) rest)
  in
  go (Units.sorted ())

(* The implementation once more, for its expressions. *)
let structure u =
  if u.cmt = "" then None
  else
    match read u.cmt with
    | Some (_, Some { cmt_annots = Implementation s; _ }) -> Some s
    | _ -> None

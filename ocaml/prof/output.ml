(* Writes exe.prof; docs/exe-prof.md is its format. *)

type t = {
  channel : out_channel;
  mutable lines : int;
  files : (string * string, int) Hashtbl.t;  (** by unit and path *)
  mutable functions : int;
  extensions : (string, unit) Hashtbl.t;  (** those that were written *)
}

let line t fmt =
  t.lines <- t.lines + 1;
  Printf.fprintf t.channel (fmt ^^ "\n")

let create channel =
  let t =
    { channel; lines = 0; files = Hashtbl.create 100; functions = 0;
      extensions = Hashtbl.create 100 }
  in
  line t "hgprof 1 ocaml %s word %d" Sys.ocaml_version Sys.word_size;
  t

let esc = Names.escape
let numbers l = String.concat "" (List.map (Printf.sprintf " %d") l)
let named l = String.concat "" (List.map (fun (s, t) -> Printf.sprintf " %s:%d" (esc s) t) l)

let letter = function Terms.Immutable -> "" | Mutable -> "m" | Atomic -> "a"

let fields l =
  String.concat ""
    (List.map
       (fun (f : Terms.field) ->
         Printf.sprintf " %s:%s%d" (esc f.name) (letter f.mutability) f.term)
       l)

let unit_record t (u : Units.t) =
  line t "u %s %s %s %s %s %s" (esc u.name)
    (match u.crc with Some d -> Digest.to_hex d | None -> "-")
    (esc u.source) (esc u.builddir)
    (if u.implementation <> None then "cmt" else if u.interface <> None then "cmi" else "none")
    (if u.is_own then "own" else "lib")

let term t i (term : Terms.term) =
  let optional (tag, t) =
    match t with
    | None -> " " ^ esc tag
    | Some t -> Printf.sprintf " %s:%d" (esc tag) t
  in
  match term with
  | Unknown reason -> line t "t %d ? %s" i (esc reason)
  | Loop _ -> line t "t %d ? recursive" i
  | Exist -> line t "t %d e" i
  | Var n -> line t "t %d v %d" i n
  | App (d, l) -> line t "t %d c %d%s" i d (numbers l)
  | Tuple l ->
      line t "t %d T%s" i (numbers (List.map snd l));
      if List.exists (fun (label, _) -> label <> "") l then
        line t "l%s" (String.concat "" (List.map (fun (label, _) -> " " ^ esc label) l))
  | Arrow (l, a, b) -> line t "t %d F %s %d %d" i (esc l) a b
  | Variant l -> line t "t %d P%s" i (String.concat "" (List.map optional l))
  | Object l -> line t "t %d O%s" i (named l)
  | Module l -> line t "t %d M %d" i l

let result = function None -> "" | Some l -> " =" ^ numbers l

let constructor t (c : Terms.constructor) =
  let kind = if c.fields = [] then "c" else if c.is_record then "r" else "b" in
  let result = match c.result with None -> "" | Some _ as r -> result r ^ " ;" in
  line t "k %s %s%s%s" (esc c.con_name) kind result (fields c.fields)

let declaration t (d : Terms.decl) =
  let kind =
    match d.kind with
    | Base s -> "B " ^ s
    | Alias t -> Printf.sprintf "A %d" t
    | Record l -> "R" ^ fields l
    | Float_record l -> "FR" ^ fields l
    | Unboxed (name, t, r) -> Printf.sprintf "U %s %d%s" (esc name) t (result r)
    | Either l -> "E" ^ numbers l
    | Extensible -> "X"
    | Abstract reason -> "O " ^ esc reason
    | Sum l -> Printf.sprintf "V %d" (List.length l)
  in
  line t "D %d %s %d/%d/%d %s" d.number (esc d.decl_name) d.parameters d.origin
    (Bool.to_int d.is_instance) kind;
  match d.kind with Sum l -> List.iter (constructor t) l | _ -> ()

let layout t i (l : Terms.layout) =
  line t "m %d %s%s" i (esc l.layout_name) (named l.layout_fields)

(* All types: when everything else has been written, none is missing. *)
let types t =
  Terms.Table.iteri (term t) Terms.terms;
  Terms.Table.iteri (fun _ d -> declaration t d) Terms.decls;
  Terms.Table.iteri (layout t) Terms.layouts

(* A file's number; for each unit its own. *)
let file t (u : string) path =
  match Hashtbl.find_opt t.files (u, path) with
  | Some i -> i
  | None ->
      let i = Hashtbl.length t.files in
      Hashtbl.add t.files (u, path) i;
      line t "f %d %s %s" i (esc path) (esc u);
      i

(* Where something is defined: the number of the file and the line. *)
let definition t (u : Units.t) (loc : Location.t) =
  let k = Places.key_of loc in
  if loc = Location.none || k.line <= 0 then "-"
  else Printf.sprintf "%d:%d" (file t u.name k.file) k.line

let globals t (u : Units.t) (b : Globals.block) =
  line t "g %s %d%s" (esc u.name) b.exported (named b.fields);
  if b.definitions <> [] then
    let places = List.map (fun loc -> " " ^ definition t u loc) b.definitions in
    line t "d %s%s" (esc u.name) (String.concat "" places)

let value t (u : Units.t) (ident, term, loc) =
  let at = definition t u loc in
  line t "v %s %s %d %s" (esc u.name) (esc ident) term at

let extension t (x : Places.extension) =
  let record = esc x.ext_name ^ fields x.ext_fields in
  if not (Hashtbl.mem t.extensions record) then (
    Hashtbl.add t.extensions record ();
    line t "x %s" record)

let class_record t (u : Units.t) (c : Units.class_record) =
  let name = Modules.name_at (Modules.top u) c.class_at in
  let methods = List.sort compare c.methods in
  let methods = String.concat "" (List.map (fun m -> esc m ^ " ") methods) in
  line t "C %s %s;%s" (esc name) methods (named (Classes.fields u c.entry))

let func t (f : Functions.t) =
  let k = Places.key_of f.loc in
  let file = file t f.unit_name k.file in
  let parameters = String.concat "," (List.map string_of_int f.parameters) in
  line t "F %d %s %s %d %d %d %d %d %d %d %s%s" t.functions (esc f.unit_name) (esc f.ident) file
    k.line k.start k.finish k.end_line k.end_column f.arity
    (if parameters = "" then "-" else parameters)
    (named f.captures);
  Option.iter (fun (ty, captures) -> line t "G %d %d%s" t.functions ty (named captures)) f.general;
  t.functions <- t.functions + 1;
  t.functions - 1

let place t (u : Units.t) (p : Places.place) =
  let k = p.key in
  let file = file t u.name k.file in
  line t "L %d %d %d %d %d %d @%d%s" file k.line k.start (max 0 k.finish) (max 0 k.end_line)
    (max 0 k.end_column) p.around (named p.made)

let finish t =
  Printf.fprintf t.channel "z %d\n" t.lines;
  close_out t.channel

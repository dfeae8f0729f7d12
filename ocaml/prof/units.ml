(* Compilation units and what is kept of them: signatures, and skeletons of module expressions, which
   have no expressions in them, so that a whole program fits into memory.

   Identifiers of one .cmt have different stamps: one flat table for each unit tells what an
   identifier stands for, however deep it is bound. *)

let ident_key = Ident.unique_name

(* Of functors' parameters: those without a name, [()] and [_], are told apart by their application. *)
let parameter_key = function Some id -> ident_key id | None -> "()"

(* Part of a path for people; [Argument key] is where the functor's argument goes, if the functor's
   parameter [key] is bound. *)
type part = Text of string | Argument of string

type place = {
  key : string;  (** what it is: equal keys in equal instances are the same *)
  raw : string;  (** "Stdlib__Map.Make.t" *)
  parts : part list;  (** from the last one *)
  anonymous : bool;  (** an argument of a functor, without a name of its own *)
  formal : bool;
      (** in a module type, a parameter of a functor, an unpacked module: what is abstract there
          can be anything *)
}

let inside ?(anonymous = false) place name =
  { key = place.key ^ "." ^ name; raw = place.raw ^ "." ^ name; anonymous;
    formal = place.formal; parts = Text name :: place.parts }

(* A module expression without expressions. *)
type skeleton =
  | Path of Path.t
  | Struct of structure
  | Functor of Ident.t option * skeleton * place
  | Apply of skeleton * skeleton option * Types.module_type * place
  | Sealed of skeleton * Types.module_type * place
  | Typed of Types.module_type * place

and structure = { at : place; signature : Types.signature; components : components Lazy.t }

(* By kind and name; of several the last one. *)
and components = (char * string, Types.signature_item) Hashtbl.t

(* What a type, module or module type is found in: the functors' parameters that can be bound there. *)
type scope = string list

type source = Whole | Eval of skeleton | Part of source * string

type type_entry =
  | Declared of Types.type_declaration * scope * place
  | Type_of of source * string * scope

type module_entry =
  | Bound of skeleton * scope
  | Parameter of Types.module_type * scope * place  (** known by its type only *)
  | Module_of of source * string * scope

type modtype_entry =
  | Module_type of Types.module_type option * scope * place
  | Modtype_of of source * string * scope

(* A class without its methods: what allocates instance variables, in the order of the source. *)
type class_body =
  | Anonymous of Types.type_expr option list * class_body
      (** parameters and local values that methods use; the environment has no type *)
  | Fields of class_field list
  | Named of Path.t * Types.type_expr list
  | Narrowed of string list * class_body  (** the variables that are seen from outside *)

and class_field = Val of string * Types.type_expr | Inherited of class_body

type class_entry =
  | Class of { parameters : Types.type_expr list; body : class_body; scope : scope }
  | Class_of of source * string * scope

(* What programs call a class, and its public methods. *)
type class_record = { class_at : place; methods : string list; entry : class_entry }

type interface = { signature : Types.signature; items : components Lazy.t }

type t = {
  name : string;  (** as in symbols: "Stdlib__List", "Pack__Member", "Pack.Member" *)
  modname : string;  (** as in paths: "Stdlib__List", "Member" *)
  pack : string;  (** "Pack" or "" *)
  root : place;
  mutable cmt : string;  (** the file, "" none *)
  mutable interface_file : string;
  mutable source : string;
  mutable builddir : string;
  mutable is_own : bool;  (** of the program: found below the folders that were given *)
  mutable crc : Digest.t option;  (** of its interface *)
  mutable interface_crc : Digest.t option;  (** of the interface that was read *)
  mutable source_digest : Digest.t option;
  mutable imports : (string * Digest.t option) list;
  mutable implementation : structure option;
  mutable interface : interface option;
  mutable members : string list;  (** of a pack *)
  types : (string, type_entry) Hashtbl.t;
  modules : (string, module_entry) Hashtbl.t;
  modtypes : (string, modtype_entry) Hashtbl.t;
  classes : (string, class_entry) Hashtbl.t;
  mutable class_records : class_record list;
  mutable identities : Types.type_expr list;
      (** of functions at toplevel, or in modules there, that are the identity in memory *)
}

let components (signature : Types.signature) : components Lazy.t =
  lazy
    (let table = Hashtbl.create 16 in
     let add kind id item = Hashtbl.replace table (kind, Ident.name id) item in
     List.iter
       (fun (item : Types.signature_item) ->
         match item with
         | Sig_type (id, _, _, _) -> add 't' id item
         | Sig_module (id, _, _, _, _) -> add 'm' id item
         | Sig_modtype (id, _, _) -> add 's' id item
         | Sig_class (id, _, _, _) -> add 'c' id item
         | _ -> ())
       signature;
     table)

let find_component components kind name = Hashtbl.find_opt (Lazy.force components) (kind, name)
let all : (string, t) Hashtbl.t = Hashtbl.create 1000

let symbol_name ~pack modname =
  if pack = "" then modname
  else String.concat Compat.pack_separator (String.split_on_char '.' pack @ [ modname ])

let create ~pack modname =
  let name = symbol_name ~pack modname in
  { name; modname; pack; cmt = ""; interface_file = ""; source = ""; builddir = "";
    is_own = false; crc = None;
    interface_crc = None; source_digest = None;
    root = { key = name; raw = name; parts = [ Text (Names.of_unit name) ]; anonymous = false;
      formal = false };
    imports = []; implementation = None; interface = None; members = [];
    types = Hashtbl.create 16; modules = Hashtbl.create 16; modtypes = Hashtbl.create 16;
    classes = Hashtbl.create 1; class_records = [];
    identities = [] }

(* Where what is known of it comes from, first of all. *)
let file_of u = if u.cmt <> "" then u.cmt else u.interface_file

(* What was read of its implementation. *)
let forget u =
  Hashtbl.reset u.types;
  Hashtbl.reset u.modules;
  Hashtbl.reset u.modtypes;
  Hashtbl.reset u.classes;
  u.class_records <- [];
  u.identities <- [];
  u.interface <- None;
  u.interface_crc <- None

(* All that was read of it. *)
let forget_all u =
  forget u;
  u.implementation <- None;
  u.cmt <- "";
  u.interface_file <- "";
  u.source <- "";
  u.builddir <- "";
  u.crc <- None;
  u.source_digest <- None;
  u.imports <- [];
  u.members <- []

(* The unit that another one calls so: first of its own pack. *)
let find ?(pack = "") modname =
  let rec go pack =
    match Hashtbl.find_opt all (symbol_name ~pack modname) with
    | Some u -> Some u
    | None when pack = "" -> None
    | None -> go (match String.rindex_opt pack '.' with Some i -> String.sub pack 0 i | None -> "")
  in
  go pack

let sorted () =
  List.sort (fun a b -> compare a.name b.name) (Hashtbl.fold (fun _ u l -> u :: l) all [])

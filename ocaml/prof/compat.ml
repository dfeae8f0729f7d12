(* What the rest needs of compiler-libs, alike for all versions.  What differs between versions is in
   Compat_types and others: each comes in several files, of which the build chooses one (choose-compat); a
   file's suffix is the first version that it is for. *)

open Types
include Compat_types
include Compat_modules
include Compat_trees
include Compat_patterns
include Compat_nodes
include Compat_items

(* Types. *)

type desc =
  | Variable
  | Arrow of string * type_expr * type_expr
  | Tuple of (string * type_expr) list  (** with labels, "" none *)
  | Constructed of Path.t * type_expr list
  | Object of (string * type_expr) list * (Path.t * type_expr list) option
  | Variant of (string * type_expr option) list
  | Poly of type_expr
  | Package of Path.t
  | Other

let label = function
  | Asttypes.Nolabel -> ""
  | Labelled l -> l
  | Optional l -> "?" ^ l

let type_id ty = get_id ty

let rec methods acc ty =
  match get_desc ty with
  | Tfield (name, kind, t, rest) ->
      methods (if field_kind_repr kind = Fabsent then acc else (name, t) :: acc) rest
  | _ -> List.rev acc

(* Since 5.5 the type of an argument says that it has no variables of its own. *)
let monotype ty = match get_desc ty with Tpoly (t, []) -> t | _ -> ty

let desc ty =
  match get_desc ty with
  | Tvar _ | Tunivar _ -> Variable
  | Tarrow (l, a, b, _) -> Arrow (label l, monotype a, b)
  | Ttuple l -> Tuple (tuple l)
  | Tconstr (p, l, _) -> Constructed (p, l)
  | Tobject (fields, { contents = Some (p, _ :: l) }) -> Object (methods [] fields, Some (p, l))
  | Tobject (fields, _) -> Object (methods [] fields, None)
  | Tvariant row -> Variant (row_tags row)
  | Tpoly (t, _) -> Poly t
  | other -> (
      match (package other, dependent other) with
      | Some p, _ -> Package p
      | None, Some (l, a, b) -> Arrow (label l, a, b)
      | None, None -> Other)

let is_unboxed = function Record_unboxed _ -> true | _ -> false

(* Paths and module expressions. *)

type path = Ident of Ident.t | Dot of Path.t * string | Applied of Path.t * Path.t | Inline_record

let path = function
  | Path.Pident id -> Ident id
  | Pdot (p, name) -> Dot (p, name)
  | Papply (f, a) -> Applied (f, a)
  | _ -> Inline_record
[@@warning "-11" (* the last case is of some versions only *)]

let type_path p = if is_inline_record p then Inline_record else path p

type functor_parameter = Ident.t option * module_type option

type module_view =
  | Name of Path.t
  | Structure of Typedtree.structure
  | Functor of functor_parameter * Typedtree.module_expr
  | Apply of Typedtree.module_expr * Typedtree.module_expr option
  | Constraint of Typedtree.module_expr * module_type
  | Unpack of module_type  (** of which the type is all that is known *)

let module_view (m : Typedtree.module_expr) =
  match m.mod_desc with
  | Tmod_ident (p, _) -> Name p
  | Tmod_structure s -> Structure s
  | Tmod_functor (Unit, b) -> Functor ((None, None), b)
  | Tmod_functor (Named (id, _, mt), b) -> Functor ((id, Some mt.mty_type), b)
  | Tmod_apply (f, a, _) -> Apply (f, Some a)
  | Tmod_constraint (m, mt, _, _) -> Constraint (m, mt)
  | Tmod_unpack (_, mt) -> Unpack mt
  | other -> (
      match applied_to_unit other with
      | Some f -> Apply (f, None)
      | None -> Unpack m.mod_type)
[@@warning "-11" (* the last case is of some versions only *)]

(* Functions. *)

let is_function (e : Typedtree.expression) =
  match e.exp_desc with Texp_function _ -> true | _ -> false

(* Paths and module expressions in the compiler-libs of OCaml 4.13 to 5.0. *)

type path = Ident of Ident.t | Dot of Path.t * string | Applied of Path.t * Path.t | Inline_record

(* An inline record's type has the path of its type and the constructor's name. *)
let is_inline_record p name =
  let is_lower s = s <> "" && not (Char.uppercase_ascii s.[0] = s.[0] && s.[0] <> '_') in
  (not (is_lower name)) && is_lower (Path.last p)

let path = function
  | Path.Pident id -> Ident id
  | Path.Pdot (p, name) -> Dot (p, name)
  | Path.Papply (f, a) -> Applied (f, a)

let type_path p =
  match path p with Dot (p, name) when is_inline_record p name -> Inline_record | view -> view

type functor_parameter = Ident.t option * Types.module_type option

type module_view =
  | Name of Path.t
  | Structure of Typedtree.structure
  | Functor of functor_parameter * Typedtree.module_expr
  | Apply of Typedtree.module_expr * Typedtree.module_expr option
  | Constraint of Typedtree.module_expr * Types.module_type
  | Unpack of Types.module_type

let module_view (m : Typedtree.module_expr) =
  match m.mod_desc with
  | Tmod_ident (p, _) -> Name p
  | Tmod_structure s -> Structure s
  | Tmod_functor (Unit, b) -> Functor ((None, None), b)
  | Tmod_functor (Named (id, _, mt), b) -> Functor ((id, Some mt.mty_type), b)
  | Tmod_apply (f, a, _) -> Apply (f, Some a)
  | Tmod_constraint (m, mt, _, _) -> Constraint (m, mt)
  | Tmod_unpack (_, mt) -> Unpack mt

(* Translmod gives the parts of [include struct .. end] slots of their own. *)
let include_has_slots = false

(* In symbols: a pack and its member. *)
let pack_separator = "__"

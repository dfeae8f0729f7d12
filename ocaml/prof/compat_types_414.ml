(* Types in the compiler-libs of OCaml 4.14 and later, where they are abstract. *)

open Types

type desc =
  | Variable
  | Arrow of string * type_expr * type_expr
  | Tuple of type_expr list
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

let row_tags row =
  List.filter_map
    (fun (tag, field) ->
      match row_field_repr field with
      | Rpresent t -> Some (tag, t)
      | Reither (false, t :: _, _) -> Some (tag, Some t)
      | Reither _ -> Some (tag, None)
      | Rabsent -> None)
    (row_fields row)

let desc ty =
  match get_desc ty with
  | Tvar _ | Tunivar _ -> Variable
  | Tarrow (l, a, b, _) -> Arrow (label l, a, b)
  | Ttuple l -> Tuple l
  | Tconstr (p, l, _) -> Constructed (p, l)
  | Tobject (fields, { contents = Some (p, _ :: l) }) -> Object (methods [] fields, Some (p, l))
  | Tobject (fields, _) -> Object (methods [] fields, None)
  | Tvariant row -> Variant (row_tags row)
  | Tpoly (t, _) -> Poly t
  | Tpackage (p, _) -> Package p
  | Tfield _ | Tnil | Tlink _ | Tsubst _ -> Other

let constructor_types (l : type_expr list) = l
let is_unboxed = function Record_unboxed _ -> true | _ -> false

let class_methods cs = Meths.fold (fun name _ l -> name :: l) cs.csig_meths []

(* Identifiers of the instance variables in [{< .. >}]. *)
let overridden l = List.map (fun (id, _, _) -> id) l

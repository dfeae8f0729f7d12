(* What an expression binds that a structure may bind too, types of functors, and digests, in the
   compiler-libs of OCaml 5.5 and later. *)

(* The argument of a function whose result's type names it, as a type; and the result. *)
let dependent = function
  | Types.Tfunctor (label, _, p, result) -> Some (label, Btype.newgenty (Types.Tpackage p), result)
  | _ -> None

let is_unpack = function Typedtree.Tpat_unpack _ -> true | _ -> false

(* [let module], which is no item of a structure. *)
let local_module _ = None

let local_extensions (e : Typedtree.expression) =
  match e.exp_desc with
  | Texp_struct_item ({ str_desc = Tstr_exception x; _ }, _) -> [ x.tyexn_constructor ]
  | Texp_struct_item ({ str_desc = Tstr_typext x; _ }, _) -> x.tyext_constructors
  | _ -> []

(* [let] with an item of a structure. *)
let local_items (e : Typedtree.expression) =
  match e.exp_desc with Texp_struct_item (item, _) -> [ item ] | _ -> []

let file_digest = Digest.BLAKE128.file

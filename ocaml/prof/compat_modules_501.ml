(* Paths and module expressions in the compiler-libs of OCaml 5.1 and later. *)

let is_inline_record = function Path.Pextra_ty _ -> true | _ -> false

(* The functor of [F ()]. *)
let applied_to_unit = function Typedtree.Tmod_apply_unit f -> Some f | _ -> None

(* Translmod gives the parts of [include struct .. end] slots of their own. *)
let include_has_slots = true

(* In symbols: a pack and its member. *)
let pack_separator = "."

(* Patterns that name what they match, in the compiler-libs of OCaml 4.13 to 5.1. *)

let pattern_ident : type k. k Typedtree.general_pattern -> Ident.t option =
 fun p ->
  match p.pat_desc with
  | Tpat_var (id, _) -> Some id
  | Tpat_alias (_, id, _) -> Some id
  | _ -> None

(* Patterns that name what they match, in the compiler-libs of OCaml 5.4 and later. *)

let pattern_ident : type k. k Typedtree.general_pattern -> Ident.t option =
 fun p ->
  match p.pat_desc with
  | Tpat_var (id, _, _) -> Some id
  | Tpat_alias (_, id, _, _, _) -> Some id
  | _ -> None

(* Patterns that name what they match, in the compiler-libs of OCaml 5.2 and 5.3. *)

let pattern_ident : type k. k Typedtree.general_pattern -> Ident.t option =
 fun p ->
  match p.pat_desc with
  | Tpat_var (id, _, _) -> Some id
  | Tpat_alias (_, id, _, _) -> Some id
  | _ -> None

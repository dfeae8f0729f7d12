(* Functions in the compiler-libs of OCaml 5.2 and later: a function has all its
   parameters. *)

(* Its number of parameters.  A function that it returns is another one. *)
let arity _inner (e : Typedtree.expression) =
  match e.exp_desc with
  | Texp_function (params, Tfunction_cases _) -> List.length params + 1
  | Texp_function (params, Tfunction_body _) -> List.length params
  | _ -> 1

(* Identifiers that a function binds beside those in its patterns. *)
let function_idents (e : Typedtree.expression) =
  match e.exp_desc with
  | Texp_function (params, body) -> (
      let ids = List.map (fun (p : Typedtree.function_param) -> p.fp_param) params in
      match body with Tfunction_cases c -> c.param :: ids | Tfunction_body _ -> ids)
  | _ -> []

let load_path (c : Cmt_format.cmt_infos) = c.cmt_loadpath.visible @ c.cmt_loadpath.hidden

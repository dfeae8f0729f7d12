(* Functions in the compiler-libs of OCaml 4.13 to 5.1: a function has one parameter. *)

let has_attribute name = List.exists (fun (a : Parsetree.attribute) -> a.attr_name.txt = name)

(* The function that a function returns at once belongs to it: [fun x -> fun y -> ..]; defaults of
   optional parameters in between are moved inside. *)
let rec inner_function (e : Typedtree.expression) =
  match e.exp_desc with
  | Texp_function _ -> Some e
  | Texp_let (_, [ vb ], body) when has_attribute "#default" vb.vb_attributes ->
      inner_function body
  | Texp_letmodule (_, _, _, _, body) when has_attribute "#modulepat" e.exp_attributes ->
      inner_function body
  | _ -> None

(* Its number of parameters; [inner] gets the functions that are no closures of their own. *)
let rec arity inner (e : Typedtree.expression) =
  match e.exp_desc with
  | Texp_function { cases = [ { c_guard = None; c_rhs; _ } ]; _ } -> (
      match inner_function c_rhs with
      | Some f ->
          inner f;
          1 + arity inner f
      | None -> 1)
  | _ -> 1

(* Identifiers that a function binds beside those in its patterns. *)
let function_idents (e : Typedtree.expression) =
  match e.exp_desc with Texp_function { param; _ } -> [ param ] | _ -> []

let load_path (c : Cmt_format.cmt_infos) = c.cmt_loadpath

(* What an expression binds that a structure may bind too, types of functors, and digests, in the
   compiler-libs of OCaml 4.13 to 5.4. *)

(* The argument of a function whose result's type names it, as a type; and the result. *)
let dependent _ = None

let is_unpack = function Typedtree.Tpat_unpack -> true | _ -> false

(* [let module], which is no item of a structure. *)
let local_module (e : Typedtree.expression) =
  match e.exp_desc with Texp_letmodule (Some id, _, _, m, _) -> Some (id, m) | _ -> None

let local_extensions (e : Typedtree.expression) =
  match e.exp_desc with Texp_letexception (x, _) -> [ x ] | _ -> []

(* [let] with an item of a structure. *)
let local_items _ = []

let file_digest = Digest.file

(* Constructors of types, patterns and expressions that have had other arguments over time, in the
   compiler-libs of OCaml 4.13 to 5.1. *)

let pattern_ident : type k. k Typedtree.general_pattern -> Ident.t option =
 fun p ->
  match p.pat_desc with
  | Tpat_var (id, _) -> Some id
  | Tpat_alias (_, id, _) -> Some id
  | _ -> None

(* The parts of a tuple. *)
let tuple parts = parts

let package = function Types.Tpackage (path, _) -> Some path | _ -> None

(* The argument of a function whose result's type names it, as a type; and the result. *)
let dependent _ = None

type constructor = Types.constructor_description

(* Of an argument of an application. *)
let is_omitted a = Option.is_none a

let array_elements (e : Typedtree.expression) =
  match e.exp_desc with Texp_array l -> l | _ -> []

let is_unpack = function Typedtree.Tpat_unpack -> true | _ -> false

(* [let module], which is no item of a structure. *)
let local_module (e : Typedtree.expression) =
  match e.exp_desc with Texp_letmodule (Some id, _, _, m, _) -> Some (id, m) | _ -> None

let local_extensions (e : Typedtree.expression) =
  match e.exp_desc with Texp_letexception (x, _) -> [ x ] | _ -> []

(* [let] with an item of a structure. *)
let local_items _ = []

let file_digest = Digest.file

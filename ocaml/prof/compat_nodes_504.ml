(* Constructors of types, patterns and expressions that have had other arguments over time, in the
   compiler-libs of OCaml 5.4. *)

let pattern_ident : type k. k Typedtree.general_pattern -> Ident.t option =
 fun p ->
  match p.pat_desc with
  | Tpat_var (id, _, _) -> Some id
  | Tpat_alias (_, id, _, _, _) -> Some id
  | _ -> None

(* The parts of a tuple, without their labels. *)
let tuple parts = List.map snd parts

let package = function Types.Tpackage p -> Some p.pack_path | _ -> None

(* The argument of a function whose result's type names it, as a type; and the result. *)
let dependent _ = None

type constructor = Data_types.constructor_description

(* Of an argument of an application. *)
let is_omitted = function Typedtree.Omitted () -> true | Arg _ -> false

let array_elements (e : Typedtree.expression) =
  match e.exp_desc with Texp_array (_, l) -> l | _ -> []

let is_unpack = function Typedtree.Tpat_unpack -> true | _ -> false

(* [let module], which is no item of a structure. *)
let local_module (e : Typedtree.expression) =
  match e.exp_desc with Texp_letmodule (Some id, _, _, m, _) -> Some (id, m) | _ -> None

let local_extensions (e : Typedtree.expression) =
  match e.exp_desc with Texp_letexception (x, _) -> [ x ] | _ -> []

(* [let] with an item of a structure. *)
let local_items _ = []

let file_digest = Digest.file

(* Types and expressions whose parts have grown, in the compiler-libs of OCaml 5.4 and later. *)

(* The parts of a tuple, with their labels: "" none. *)
let tuple parts = List.map (fun (label, part) -> (Option.value label ~default:"", part)) parts

let package = function Types.Tpackage p -> Some p.pack_path | _ -> None

type constructor = Data_types.constructor_description

(* Of a field. *)
let is_atomic (l : Types.label_declaration) = l.ld_atomic = Atomic

(* Of an argument of an application. *)
let is_omitted = function Typedtree.Omitted () -> true | Arg _ -> false

let array_elements (e : Typedtree.expression) =
  match e.exp_desc with Texp_array (_, l) -> l | _ -> []

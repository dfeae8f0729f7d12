(* Types and expressions whose parts have grown, in the compiler-libs of OCaml 4.13 to 5.3. *)

(* The parts of a tuple, with their labels: "" none. *)
let tuple parts = List.map (fun part -> ("", part)) parts

let package = function Types.Tpackage (path, _) -> Some path | _ -> None

type constructor = Types.constructor_description

(* Of a field. *)
let is_atomic (_ : Types.label_declaration) = false

(* Of an argument of an application. *)
let is_omitted a = Option.is_none a

let array_elements (e : Typedtree.expression) =
  match e.exp_desc with Texp_array l -> l | _ -> []

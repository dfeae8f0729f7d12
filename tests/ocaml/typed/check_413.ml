(* OCaml 4.13: the compiler's own type checker. *)
let structure ast =
  Env.set_unit_name "Generated";
  let structure, signature, _, env = Typemod.type_structure (Compmisc.initial_env ()) ast in
  (structure, signature, env)

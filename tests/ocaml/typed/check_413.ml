(* OCaml 4.13: the compiler's own type checker. *)
let structure ast =
  Env.set_unit_name "Generated";
  let structure, signature, _, env = Typemod.type_structure (Compmisc.initial_env ()) ast in
  (* As the compiler does: until then functions hold what they are to check. *)
  Typecore.force_delayed_checks ();
  (structure, signature, env)

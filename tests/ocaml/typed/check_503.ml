(* OCaml 5.3: the compiler's own type checker. *)
let structure ast =
  Env.set_current_unit (Unit_info.make ~source_file:"generated.ml" Unit_info.Impl "generated");
  let structure, signature, _, _, env = Typemod.type_structure (Compmisc.initial_env ()) ast in
  (* As the compiler does: until then functions hold what they are to check. *)
  Typecore.force_delayed_checks ();
  (structure, signature, env)

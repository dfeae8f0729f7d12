(* typechecker BYTES: a large program with many types in its heap, the compiler's type checker, after
   it has read as many bytes of source.  What it found hangs on a variable of the module. *)
external wait : unit -> unit = "truth_wait"

let result = ref None

let () =
  Compmisc.init_path ();
  Lexing.from_string (Generated.source (int_of_string Sys.argv.(1)))
  |> Parse.implementation |> Check.structure
  |> fun checked ->
  result := Some checked;
  Gc.compact ();
  print_endline "READY";
  wait ();
  ignore (Sys.opaque_identity !result)

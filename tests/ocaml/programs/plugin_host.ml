(* plugin_host SIZE PLUGIN: a program that has loaded another with Dynlink. *)
let mine = List.init (int_of_string Sys.argv.(1)) string_of_int

let () =
  Dynlink.loadfile_private Sys.argv.(2);
  assert (List.length (!Plugin_api.answer 7) = 4);
  Report.ready
    [ ("mine", Obj.repr mine); ("values", Obj.repr !Plugin_api.values); ("answer", Obj.repr !Plugin_api.answer) ];
  Report.wait ()

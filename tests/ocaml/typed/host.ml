(* host PLUGIN: has loaded it. *)
open Truth

type own = { mine : string Bag_api.bag list; count : int }

let own = { mine = List.init 5 (fun i -> { Bag_api.content = [ string_of_int i ]; label = "own" ^ string_of_int i }); count = 5 }

let () =
  Dynlink.loadfile_private Sys.argv.(1);
  known (Bag_api.bag_ty string) Bag_api.strings;
  known (typ "Host.own" (fun { mine; _ } -> [ mine @: list (Bag_api.bag_ty string) ])) own;
  List.iter later !Bag_api.shown;
  report ()

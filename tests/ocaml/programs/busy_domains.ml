(* busy_domains COUNT (OCaml 5): Workers in three domains, each with work of its own, until SIGTERM. *)
let () =
  let count = int_of_string Sys.argv.(1) in
  Workers.prepare 3;
  let steps = [| Workers.build_trees; Workers.hash; Workers.churn () |] in
  let run slot = Domain.spawn (fun () -> Workers.work slot count steps.(slot)) in
  let all = List.init 3 run in
  (* The main domain has to be there for the signal: it does not in Domain.join. *)
  while not !Workers.stop do
    Unix.sleepf 0.01
  done;
  Workers.finish 3 (List.fold_left (fun sum domain -> sum + Domain.join domain) 0 all)

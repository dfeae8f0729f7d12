(* busy COUNT MODE: Workers in the main thread or in systhreads, until SIGTERM. *)

let step = function
  | "trees" | "threads" -> Workers.build_trees
  | "hash" -> Workers.hash
  | "churn" -> Workers.churn ()
  | "pages" -> Workers.pages ()
  | other -> failwith other

let threads count =
  let errors = Array.make 3 0 in
  let run slot = Thread.create (fun () -> errors.(slot) <- Workers.work slot count Workers.build_trees) () in
  let all = List.init 3 run in
  List.iter Thread.join all;
  Workers.finish 3 (Array.fold_left ( + ) 0 errors)

let () =
  let count = int_of_string Sys.argv.(1) in
  match Sys.argv.(2) with
  | "threads" ->
    Workers.prepare 3;
    threads count
  | mode ->
    let step = step mode in
    Workers.prepare 1;
    Workers.finish 1 (Workers.work 0 count step)

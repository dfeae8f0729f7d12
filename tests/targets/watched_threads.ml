(* watched_threads busy FILE: one thread that never rests
   watched_threads threads FILE: three of them; another waits in system calls *)
open Watched_work

let () =
  let steps =
    match Sys.argv.(1) with
    | "busy" -> [ both ]
    | "threads" -> [ both; table; floats; wait ]
    | _ -> exit 2
  in
  open_record Sys.argv.(2) (List.length steps);
  Atomic.set to_begin (List.length steps);
  let others = List.mapi (fun i step -> (i + 1, step)) (List.tl steps) in
  let threads = List.map (fun (slot, step) -> Thread.create (repeat slot) step) others in
  repeat 0 (List.hd steps);
  List.iter Thread.join threads;
  result ()

(* Each request leaves behind what is to be done when the server ends, and with it itself.
   HELD BY global Cleanup.at_exit_of_server *)
open Server

let at_exit_of_server : (unit -> unit) Queue.t = Queue.create () (* LEAK *)

let remove_file r =
  let file = Printf.sprintf "/tmp/upload-%d" r.id in
  let remove () = (* LEAK *)
    if Bytes.length r.body > 1 lsl 16 then prerr_endline ("removes " ^ file ^ " of " ^ r.user.name)
  in
  Queue.add remove at_exit_of_server (* LEAK *)

(* Stands in the middle of the queue: a frame holds the cells that follow. *)
let statistics pause =
  let tick = halfway (Queue.length at_exit_of_server) pause in
  Queue.iter (fun remove -> tick (); remove ()) at_exit_of_server

let () = run ~statistics (fun r -> remove_file r; respond r)

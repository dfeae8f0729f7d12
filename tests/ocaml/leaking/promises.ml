(* Each request waits for its answer or for the end of the server, which never comes: its callback
   stays with that promise.
   HELD BY global Promises.end_of_server *)
open Server

type outcome = Answer of request * response | Ended

let end_of_server : outcome Promise.t = Promise.pending () (* LEAK *)

let handle r =
  let answer = Promise.pending () in
  let ended = Promise.pending () in
  Promise.on_result end_of_server (fun outcome -> (* LEAK *)
      if Bytes.length r.body > 0 then Promise.resolve ended outcome);
  let first = Promise.choose answer ended in
  Promise.resolve answer (Answer (r, respond r));
  Promise.bind first (fun outcome ->
      match outcome with
      | Answer (_, response) -> { Promise.state = Promise.Resolved response }
      | Ended -> Promise.pending ())

(* Who waits for the end, as another list, of which half is made. *)
let statistics pause =
  let waiting = Promise.callbacks end_of_server in
  let tick = halfway (List.length waiting) pause in
  let wrapped = List.rev_map (fun callback -> tick (); fun outcome -> callback outcome) waiting in
  ignore (Sys.opaque_identity (List.length wrapped))

let () =
  run ~statistics (fun r ->
      match (handle r).Promise.state with
      | Promise.Resolved response -> response
      | Promise.Pending _ -> respond r)

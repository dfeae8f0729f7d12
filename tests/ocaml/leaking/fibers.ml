(* Requests that ask another server are suspended until it answers; for these it never does.
   HELD BY global Fibers.waiting *)
open Server
open Effect.Deep

type answer = { from : string; data : Bytes.t }
type _ Effect.t += Ask : request -> answer Effect.t
type waiter = { since : float; resume : (answer, unit) continuation }

let waiting : waiter Queue.t = Queue.create () (* LEAK *)

(* Its frame holds the request and what was made of it. *)
let ask r =
  let question = Printf.sprintf "what of %s?" r.path in
  let answer = Effect.perform (Ask r) in (* LEAK *)
  ignore (Sys.opaque_identity (question ^ answer.from ^ Bytes.to_string answer.data ^ r.path))

let spawn r =
  match_with ask r
    { retc = (fun () -> ());
      exnc = raise;
      effc =
        (fun (type a) (e : a Effect.t) ->
          match e with
          | Ask r ->
            Some
              (fun (resume : (a, unit) continuation) ->
                let waiter = { since = float r.id; resume } in (* LEAK *)
                Queue.add waiter waiting) (* LEAK *)
          | _ -> None) }

(* Who has waited for long: a list of them, of which half is made. *)
let statistics pause =
  let tick = halfway (Queue.length waiting) pause in
  let long = Queue.fold (fun long waiter -> tick (); waiter :: long) [] waiting in
  ignore (Sys.opaque_identity (List.length long))

let () = run ~statistics (fun r -> spawn r; respond r)

(* Sessions are kept by their tokens and never expire.
   HELD BY global Cache.sessions *)
open Server

type session = { token : string; opened : float; last : request; mutable seen : int }

let sessions : (string, session) Hashtbl.t = Hashtbl.create 16 (* LEAK *)

let log_in r =
  let token = Digest.to_hex (Digest.string (string_of_int r.id)) in
  let session = { token; opened = float r.id; last = r; seen = 0 } in (* LEAK *)
  Hashtbl.replace sessions token session; (* LEAK *)
  session

(* A page of all sessions: a list that has half of them at the moment. *)
let statistics pause =
  let tick = halfway (Hashtbl.length sessions) pause in
  let all = Hashtbl.fold (fun token s sum -> tick (); (token, s) :: sum) sessions [] in
  ignore (Sys.opaque_identity (List.length all))

let () =
  run ~statistics (fun r ->
      let session = log_in r in
      session.seen <- session.seen + 1;
      respond r)

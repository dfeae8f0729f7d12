(* A log of who did what, in memory, that nobody cuts.
   HELD BY global Audit.log *)
open Server

type entry = { at : float; who : user; what : string }

let log : entry list ref = ref [] (* LEAK *)

let note r =
  let what = "GET " ^ r.path in
  log := { at = float r.id; who = r.user; what } :: !log (* LEAK *)

(* What happened lately: a copy of the list, of which half is made. *)
let statistics pause =
  let tick = halfway (List.length !log) pause in
  let late = List.filter (fun e -> tick (); e.at >= 0.) !log in
  ignore (Sys.opaque_identity (List.length late))

let () = run ~statistics (fun r -> note r; respond r)

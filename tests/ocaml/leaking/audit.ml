(* A log of who did what, in memory, that nobody cuts: a variable of an inner module, which is in the
   block of the unit and once more in that of the module.
   HELD BY global Audit.log *)
open Server

type entry = { at : float; who : user; what : string }

module Log = struct
  let log : entry list ref = ref [] (* LEAK *)
  let add entry = log := entry :: !log (* LEAK *)
end

let note r =
  let what = "GET " ^ r.path in
  Log.add { at = float r.id; who = r.user; what } (* LEAK *)

(* What happened lately: a copy of the list, of which half is made. *)
let statistics pause =
  let tick = halfway (List.length !Log.log) pause in
  let late = List.filter (fun e -> tick (); e.at >= 0.) !Log.log in
  ignore (Sys.opaque_identity (List.length late))

let () = run ~statistics (fun r -> note r; respond r)

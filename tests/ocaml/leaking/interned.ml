(* Healthy: a weak set of names, and what is known of sessions by ephemerons; of both only what the
   last 1000 sessions hold is alive. *)
open Server

module Names = Weak.Make (struct
  type t = string

  let equal = String.equal
  let hash = Hashtbl.hash
end)

type session = { number : int; agent : string; last : request }
type profile = { visits : int; pages : string list }

module Profiles = Ephemeron.K1.Make (struct
  type t = session

  let equal = ( == )
  let hash s = s.number
end)

let names = Names.create 64
let profiles : profile Profiles.t = Profiles.create 64
let recent : session option array = Array.make 1000 None

let visit r =
  let agent = Names.merge names (Printf.sprintf "agent %d of %s" (r.id / 7) r.user.name) in
  let session = { number = r.id; agent; last = r } in
  Profiles.replace profiles session { visits = r.id mod 9; pages = [ r.path; agent ] };
  Option.iter (Profiles.remove profiles) recent.(r.id mod 1000);
  recent.(r.id mod 1000) <- Some session

let statistics pause =
  let tick = halfway (Names.count names) pause in
  let all = Names.fold (fun name all -> tick (); name :: all) names [] in
  ignore (Sys.opaque_identity (List.length all))

let () = run ~statistics (fun r -> visit r; respond r)

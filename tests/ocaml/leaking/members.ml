(* Who has signed in, by name in a table and in order in a list: what is in both hangs below neither.
   HELD BY global Members.members *)
open Server

type member = { token : string; last : string; at : float }
type members = { by_token : (string, member) Hashtbl.t; mutable all : member list }

let members = { by_token = Hashtbl.create 16; all = [] } (* LEAK *)

let sign_in r =
  let member = { token = Printf.sprintf "token-%d" r.id; last = r.path; at = float r.id } in (* LEAK *)
  Hashtbl.replace members.by_token ("by " ^ member.token) member; (* LEAK *)
  members.all <- member :: members.all (* LEAK *)

(* The list of those who were there lately, of which half is made. *)
let statistics pause =
  let tick = halfway (Hashtbl.length members.by_token) pause in
  let late = List.filter (fun member -> tick (); member.at >= 0.) members.all in
  ignore (Sys.opaque_identity (List.length late))

let () = run ~statistics (fun r -> sign_in r; respond r)

(* Registrations that nobody takes back, in a Map that a functor keeps to itself: no type of the program
   leads to it, only samples tell that of some of its blocks.
   HELD BY global Plugins.Hooks *)
open Server

module Registry (Item : sig
  type t

  val name : t -> string
end) : sig
  val register : Item.t -> unit
  val walk : (Item.t -> unit) -> unit
end = struct
  module Names = Map.Make (String)

  let known : Item.t Names.t ref = ref Names.empty
  let register item = known := Names.add (Item.name item) item !known (* LEAK *)

  (* A copy, of which half is made when the walk is stopped. *)
  let walk visit = ignore (Sys.opaque_identity (Names.map (fun item -> visit item; item) !known))
end

type hook = { route : string; key : string; calls : int ref }

module Hooks = Registry (struct (* LEAK *)
  type t = hook

  let name hook = hook.key
end)

let registered = ref 0

let serve r =
  incr registered;
  Hooks.register { route = r.path; key = Printf.sprintf "hook-%d" r.id; calls = ref r.id }; (* LEAK *)
  respond r

let statistics pause =
  let tick = halfway !registered pause in
  Hooks.walk (fun hook -> tick (); incr hook.calls)

let () = run ~statistics serve

(* Results are kept for those who ask again, by a key that never comes again.
   HELD BY global Memo.known *)
open Server

type key = { route : string; asked : int }
type quote = { key : key; price : float; lines : string list }

module Known = Map.Make (struct
  type t = key

  let compare a b = compare (a.asked, a.route) (b.asked, b.route)
end)

let known : quote Known.t ref = ref Known.empty (* LEAK *)

let compute key =
  { key; price = float key.asked *. 1.19; lines = [ key.route; Printf.sprintf "%d items" key.asked ] } (* LEAK *)

let quote r =
  let key = { route = r.path; asked = r.id } in
  match Known.find_opt key !known with
  | Some quote -> quote
  | None ->
    let quote = compute key in
    known := Known.add key quote !known; (* LEAK *)
    quote

(* The cheap ones, another map, of which half is made. *)
let statistics pause =
  let tick = halfway (Known.cardinal !known) pause in
  let cheap = Known.filter (fun key _ -> tick (); key.asked mod 2 = 0) !known in
  ignore (Sys.opaque_identity (Known.cardinal cheap))

let () =
  run ~statistics (fun r ->
      let quote = quote r in
      { (respond r) with text = String.concat "\n" quote.lines })

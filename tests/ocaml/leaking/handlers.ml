(* Whoever waits for an event is told of it, and never taken from the list again.
   HELD BY global Handlers.handlers *)
open Server

type event = { kind : string; number : int }

let handlers : (string, (event -> unit) list) Hashtbl.t = Hashtbl.create 16 (* LEAK *)
let kinds = [| "login"; "logout"; "order"; "reload" |]

let subscribe kind handler =
  let others = Option.value (Hashtbl.find_opt handlers kind) ~default:[] in
  Hashtbl.replace handlers kind (handler :: others) (* LEAK *)

let emit event =
  List.iter (fun handler -> handler event) (Option.value (Hashtbl.find_opt handlers event.kind) ~default:[])

let tick = ref (fun () -> ())

let watch r =
  let heard = ref 0 in
  subscribe kinds.(r.id mod 4) (fun event -> (* LEAK *)
      !tick ();
      if event.number = r.id then heard := !heard + Bytes.length r.body)

(* An event, about which half of those who wait for it have heard. *)
let statistics pause =
  let waiting = Option.value (Hashtbl.find_opt handlers "order") ~default:[] in
  tick := halfway (List.length waiting) pause;
  emit { kind = "order"; number = 0 };
  tick := fun () -> ()

let () = run ~statistics (fun r -> watch r; respond r)

(* Promises in the manner of Lwt, as far as promises.ml needs them. *)

type 'a t = { mutable state : 'a state }
and 'a state = Resolved of 'a | Pending of ('a -> unit) list

let pending () = { state = Pending [] }

let on_result promise callback =
  match promise.state with
  | Resolved value -> callback value
  | Pending callbacks -> promise.state <- Pending (callback :: callbacks)

let resolve promise value =
  match promise.state with
  | Resolved _ -> ()
  | Pending callbacks ->
    promise.state <- Resolved value;
    List.iter (fun callback -> callback value) (List.rev callbacks)

(* The first of the two; the other one is not told that nobody waits for it any more. *)
let choose a b =
  let first = pending () in
  on_result a (resolve first);
  on_result b (resolve first);
  first

let bind promise continue =
  let result = pending () in
  on_result promise (fun value -> on_result (continue value) (resolve result));
  result

let callbacks promise =
  match promise.state with
  | Resolved _ -> []
  | Pending callbacks -> callbacks

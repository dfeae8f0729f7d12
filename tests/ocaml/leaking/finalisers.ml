(* Connections are closed by a finaliser, whose closure holds the connection itself, so that it is
   never called.
   HELD BY finaliser *)
open Server

type connection = { fd : int; buffer : Bytes.t; for_request : request; mutable closed : bool }

let close c = c.closed <- true

let connect r =
  let c = { fd = r.id; buffer = Bytes.create 256; for_request = r; closed = false } in (* LEAK *)
  Gc.finalise (fun _ -> close c) c; (* LEAK *)
  c

(* Some of them are at work together: a frame holds these. *)
let statistics pause =
  let together = List.init 300 (fun i -> connect (request i)) in
  let tick = halfway 300 pause in
  List.iter (fun c -> tick (); c.closed <- false) together;
  ignore (Sys.opaque_identity together)

let () =
  run ~statistics (fun r ->
      let c = connect r in
      Bytes.set c.buffer 0 'x';
      respond c.for_request)

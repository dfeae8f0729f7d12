(* Files are closed by a finaliser that is a function of its own with its file, which is thus never
   closed.  Nothing says of what type the function is but, for some, the place of a sample.
   HELD BY finaliser *)
open Server

type file = { fd : int; contents : Bytes.t; mutable is_open : bool }

let attach file =
  let close _ = file.is_open <- false in (* LEAK *)
  Gc.finalise close file (* LEAK *)

let load r =
  let file = { fd = r.id; contents = Bytes.copy r.body; is_open = true } in (* LEAK *)
  attach file;
  file

let statistics pause =
  let together = List.init 300 (fun i -> load (request i)) in
  let tick = halfway 300 pause in
  List.iter (fun file -> tick (); Bytes.set file.contents 0 'x') together;
  ignore (Sys.opaque_identity together)

let () =
  run ~statistics (fun r ->
      let file = load r in
      respond { r with body = file.contents })

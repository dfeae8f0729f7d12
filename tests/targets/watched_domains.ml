(* watched_domains FILE (OCaml 5): three domains, two of which have a second thread. *)
open Watched_work

let () =
  open_record Sys.argv.(1) 5;
  Atomic.set to_begin 5;
  let first = Domain.spawn (fun () ->
      let second = Thread.create (repeat 1) wait in
      repeat 2 both;
      Thread.join second)
  in
  let other = Domain.spawn (fun () -> repeat 3 table) in
  let thread = Thread.create (repeat 4) floats in
  repeat 0 wait;
  Thread.join thread;
  Domain.join first;
  Domain.join other;
  result ()

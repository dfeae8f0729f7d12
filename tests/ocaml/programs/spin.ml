(* spin COUNT: allocates until SIGTERM, with marked blocks that only a register holds: the loop has
   no frame.  Its kind of call to the collector is the one where registers are live. *)

let rec spin arrays =
  if !Workers.stop then arrays
  else begin
    ignore (Sys.opaque_identity (ref !Workers.stop));
    spin arrays
  end

let () =
  Workers.prepare 1;
  let arrays = Workers.marked (int_of_string Sys.argv.(1)) in
  Workers.begun ();
  let errors = Workers.wrong (spin arrays) in
  Workers.rounds.(0) <- 1;
  Workers.finish 1 errors

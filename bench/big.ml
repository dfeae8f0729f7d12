(* A heap of about 1.3 GB (argument: millions of blocks, 40), and a loop that measures for how long it
   did not run at the longest.  For each line of input it prints that, in microseconds, and begins
   anew. *)
type record = { id : int; name : string; values : float array; mutable next : record option }

let make i =
  { id = i;
    name = "name " ^ string_of_int i;
    values = Array.make (i land 3) (float i);
    next = Some { id = -i; name = ""; values = [||]; next = None } }

let () =
  let millions = int_of_string Sys.argv.(1) in
  (* Blocks per record: itself, name, values in three of four, Some and the record behind. *)
  let records = Array.init (millions * 1_000_000 * 4 / 19) make in
  Gc.full_major ();
  print_endline "READY";
  let longest = ref 0. and last = ref (Unix.gettimeofday ()) in
  let input_waits () =
    match Unix.select [ Unix.stdin ] [] [] 0. with
    | [], _, _ -> false
    | _ -> true
    | exception Unix.Unix_error (Unix.EINTR, _, _) -> false
  in
  try
    while true do
      for _ = 1 to 1000 do
        let now = Unix.gettimeofday () in
        if now -. !last > !longest then longest := now -. !last;
        last := now
      done;
      if input_waits () then begin
        ignore (input_line stdin);
        Printf.printf "%.0f\n%!" (!longest *. 1e6);
        longest := 0.;
        last := Unix.gettimeofday ()
      end
    done
  with End_of_file -> ignore (Sys.opaque_identity records)

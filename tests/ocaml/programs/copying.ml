(* A server's list, stopped in the middle of List.filter: the frames hold the cells that are still to
   come and the copy of those before, which has their elements. *)
type entry = { at : float; who : string }

let log : entry list ref = ref []

let rec fill n =
  if n > 0 then begin
    log := { at = float_of_int n; who = "user " ^ string_of_int n } :: !log;
    fill (n - 1)
  end

let rec last = function [] -> assert false | [ _ ] as l -> l | _ :: l -> last l

let seen = ref 0

let keep stop entry =
  incr seen;
  if !seen = stop then begin
    Printf.printf "STOPPED cells=%d\nREADY\n" stop;
    flush stdout;
    Report.wait ()
  end;
  entry.at > 0.

let () =
  let n = int_of_string Sys.argv.(1) in
  fill n;
  Gc.full_major ();
  Report.program ();
  List.iter Report.value [ ("log", Obj.repr !log); ("last", Obj.repr (last !log)) ];
  print_int (List.length (List.filter (keep (n / 3)) !log) + List.length !log)

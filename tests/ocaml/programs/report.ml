(* What a program says of itself, a line of words for each fact, on standard output:

     PROGRAM pid=N version=V reserved_bits=N
     STAT name=N ...       Gc.stat after Gc.full_major
     ADDR name=HEX         where a value is
     REACH name=WORDS      Obj.reachable_words of it
     READY                 from now on nothing changes *)

external address : Obj.t -> nativeint = "report_address"
external reserved_bits : unit -> int = "report_reserved_bits"

let program () =
  Printf.printf "PROGRAM pid=%d version=%s reserved_bits=%d\n" (Unix.getpid ()) Sys.ocaml_version
    (reserved_bits ())

(* More than once: what only finalised values held is freed by a later one. *)
let stat_line () =
  for _ = 1 to 4 do
    Gc.full_major ()
  done;
  let s = Gc.stat () in
  let field name n = " " ^ name ^ "=" ^ string_of_int n in
  "STAT" ^ field "live_blocks" s.Gc.live_blocks ^ field "live_words" s.Gc.live_words
  ^ field "free_words" s.Gc.free_words ^ field "free_blocks" s.Gc.free_blocks
  ^ field "fragments" s.Gc.fragments ^ field "heap_words" s.Gc.heap_words ^ "\n"

let value (name, v) =
  Printf.printf "ADDR %s=%nx\nREACH %s=%d\n" name (address v) name (Obj.reachable_words v)

let rec wait () : unit =
  Unix.pause ();
  wait ()

(* The values reported, alive until the end: no garbage in the major heap. *)
let reported = ref []

(* Nothing after the statistics allocates in the major heap: it would not be in them. *)
let ready values =
  reported := values;
  let line = stat_line () in
  program ();
  print_string line;
  List.iter value values;
  print_string "READY\n";
  flush stdout

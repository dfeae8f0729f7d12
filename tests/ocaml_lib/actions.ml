(* What tests/cli/ocaml_library.sh lets a program do with the library: actions ACTION. *)

let say fmt = Printf.printf (fmt ^^ "\n")

(* Processes of which this one is the parent: all, and those that ended without being waited for. *)
let children () =
  let own = string_of_int (Unix.getpid ()) in
  let state name =
    try
      let channel = open_in_bin ("/proc/" ^ name ^ "/stat") in
      Fun.protect
        ~finally:(fun () -> close_in channel)
        (fun () ->
          let line = input_line channel in
          let after = String.rindex line ')' + 2 in
          match String.split_on_char ' ' (String.sub line after (String.length line - after)) with
          | state :: parent :: _ when parent = own -> Some state
          | _ -> None)
    with Sys_error _ | End_of_file | Not_found -> None
  in
  List.filter_map state (Array.to_list (Sys.readdir "/proc"))

let zombies () = List.length (List.filter (String.equal "Z") (children ()))

(* Allocates; the result is always the same. *)
let work rounds =
  let table = Hashtbl.create 64 in
  for i = 1 to rounds do
    Hashtbl.replace table (i mod 5000) (Array.make (1 + (i mod 30)) i)
  done;
  Hashtbl.fold (fun _ cells sum -> sum + Array.length cells) table 0

(* Until it holds, or a minute has passed. *)
let until condition =
  let deadline = Unix.gettimeofday () +. 60. in
  while (not (condition ())) && Unix.gettimeofday () < deadline do
    ignore (work 20_000 : int)
  done;
  if not (condition ()) then say "waited in vain"

let last_number () =
  match Heapgraph.last () with None -> -1 | Some stats -> stats.number

(* Neither what is in the buffers nor at_exit is the child's business. *)
let names () =
  at_exit (fun () -> say "at exit");
  print_string "before\n";
  let first = Heapgraph.dump_heap () in
  let second = Heapgraph.dump_heap ~name:"a name = 50%" () in
  say "pid %d" (Unix.getpid ());
  say "files %s %s" (Filename.basename first) (Filename.basename second);
  say "there %b %b" (Sys.file_exists first) (Sys.file_exists second);
  match Heapgraph.last () with
  | None -> say "no stats"
  | Some stats ->
      say "stats %b %d '%s' %d" (stats.file = second) stats.number stats.trigger stats.domains;
      say "sane %b %b %b %b"
        (stats.stop_wait >= 0. && stats.stop_wait < 60.)
        (stats.pause > 0. && stats.pause < 60.)
        (stats.write_time > 0. && stats.write_time < 60.)
        (stats.bytes > 100_000)

(* The program's own children: it must see them, and no others. *)
let children_of_ours () =
  let signals = ref 0 in
  Sys.set_signal Sys.sigchld (Sys.Signal_handle (fun _ -> incr signals));
  ignore (Heapgraph.dump_heap () : string);
  say "signals %d, children %d" !signals (List.length (children ()));
  (match Unix.wait () with
  | _ -> say "a child that is not ours"
  | exception Unix.Unix_error (Unix.ECHILD, _, _) -> say "no child");
  (match Unix.fork () with
  | 0 ->
      (* Counts from 0, under its own process id. *)
      let file = Heapgraph.dump_heap () in
      let wanted = Printf.sprintf "heap.dump.%d.0" (Unix.getpid ()) in
      Unix._exit (if file = wanted then 7 else 8)
  | child -> (
      ignore (Heapgraph.dump_heap () : string);
      let rec wait () = try Unix.wait () with Unix.Unix_error (Unix.EINTR, _, _) -> wait () in
      match wait () with
      | pid, Unix.WEXITED status -> say "own child %b %d" (pid = child) status
      | _ -> say "own child died"));
  say "signals %d, children %d" !signals (List.length (children ()))

let hup () =
  Heapgraph.on_sighup ();
  for number = 0 to 1 do
    Unix.kill (Unix.getpid ()) Sys.sighup;
    until (fun () -> last_number () = number)
  done;
  match Heapgraph.last () with
  | Some stats -> say "%d %s" stats.number stats.trigger
  | None -> say "no dump"

(* As HEAPGRAPH says. *)
let busy wanted =
  let result = work 50_000 in
  until (fun () ->
      Gc.full_major ();
      last_number () >= wanted - 1);
  say "result %d" result;
  say "trigger %s" (match Heapgraph.last () with Some stats -> stats.trigger | None -> "none");
  (* The thread that waits for the child reaps it before it tells. *)
  say "zombies %d" (zombies ())

let plain () = say "result %d" (work 50_000)

let majors count =
  for _ = 1 to count do
    Gc.full_major ()
  done;
  say "done"

let refused () =
  match Heapgraph.dump_heap () with
  | file -> say "wrote %s" file
  | exception Sys_error why -> say "Sys_error %s" why

let told = function Ok () -> "Ok" | Error why -> "Error " ^ why

(* At rate 1 every block is sampled and has a call stack of its own. *)
let samples () =
  let live () =
    Gc.full_major ();
    (Gc.stat ()).live_blocks
  in
  let kept = ref [] in
  let grow () =
    let before = live () in
    for i = 1 to 20_000 do
      kept := Array.make 3 i :: !kept
    done;
    live () - before
  in
  let without = grow () in
  say "%s" (told (Heapgraph.sample ~rate:1. ()));
  let within = grow () in
  say "%s" (told (Heapgraph.sample ()));
  let ratio = float_of_int within /. float_of_int without in
  if ratio > 1.95 && ratio < 2.05 then say "stacks for all" else say "%d and %d" without within;
  Heapgraph.stop ();
  Heapgraph.stop ();
  (* What was sampled before is forgotten; the kept blocks are not. *)
  let forgotten = live () in
  say "forgotten %b" (forgotten < 2 * (without + 30_000));
  say "%s" (told (Heapgraph.sample ~rate:0. ()));
  say "%s" (told (Heapgraph.sample ~rate:1e-3 ()));
  Heapgraph.stop ();
  (match Gc.Memprof.start ~sampling_rate:1e-3 Gc.Memprof.null_tracker with
  | _ -> say "%s" (told (Heapgraph.sample ()))
  | exception Failure _ -> ());
  ignore (Sys.opaque_identity kept)

(* 100,000 blocks of 4 words, header included. *)
let sampled () =
  (match Heapgraph.sample ~rate:1e-3 () with Ok () -> () | Error why -> prerr_endline why);
  let kept = List.init 100_000 (fun i -> Sys.opaque_identity [| i; i; i |]) in
  Gc.full_major ();
  say "%s" (Heapgraph.dump_heap ());
  ignore (Sys.opaque_identity kept)

(* What Gc.stat says right before the dump. *)
let live () =
  let table = Hashtbl.create 64 in
  for i = 1 to 50_000 do
    Hashtbl.replace table i (string_of_int i, Array.make (i mod 7) (float_of_int i))
  done;
  let big = Array.make 300_000 0 in
  Gc.full_major ();
  let stat = Gc.stat () in
  let file = Heapgraph.dump_heap () in
  say "%s %d %d" file stat.live_blocks stat.live_words;
  ignore (Sys.opaque_identity (table, big))

let () =
  match Sys.argv with
  | [| _; "names" |] -> names ()
  | [| _; "children" |] -> children_of_ours ()
  | [| _; "hup" |] -> hup ()
  | [| _; "busy"; count |] -> busy (int_of_string count)
  | [| _; "plain" |] -> plain ()
  | [| _; "majors"; count |] -> majors (int_of_string count)
  | [| _; "refused" |] -> refused ()
  | [| _; "samples" |] -> samples ()
  | [| _; "sampled" |] -> sampled ()
  | [| _; "live" |] -> live ()
  | _ ->
      prerr_endline "usage: actions ACTION";
      exit 2

(* Does the work in a child process, which tells what file it is at: a damaged file may well end it,
   since what the compiler wrote has no types that could be checked.  Then the work starts again
   without that file. *)

let most_restarts = 20

(* Of the processor's time, and of memory in words, that one file may take; what undamaged ones take
   is less than a hundredth of it. *)
let seconds size = 60. +. (float size /. 50_000.)
let words size = (256 * 1024 * 1024) + (32 * size)

(* Files that have ended a child. *)
let skipped : (string, unit) Hashtbl.t = Hashtbl.create 1

let is_skipped file = Hashtbl.mem skipped file
let parent : out_channel option ref = ref None
let most_words = ref max_int

(* A letter, a length, a text: 'f' the file that the child is at, "" none; 'm' a message; 'x' an
   exception that ends it. *)
let tell kind text =
  let write channel =
    output_char channel kind;
    output_binary_int channel (String.length text);
    output_string channel text;
    flush channel
  in
  Option.iter write !parent

let limit seconds = ignore (Unix.setitimer ITIMER_PROF { it_interval = 0.; it_value = seconds })

(* What follows is about this file. *)
let about file =
  let size = try (Unix.stat file).st_size with Unix.Unix_error _ -> 0 in
  tell 'f' file;
  if file = "" then (
    limit 0.;
    most_words := max_int)
  else (
    limit (seconds size);
    most_words := (Gc.quick_stat ()).heap_words + words size)

let exit_crash = 125

let crash why =
  tell 'x' why;
  Unix._exit exit_crash

let child output work =
  parent := Some (Unix.out_channel_of_descr output);
  Messages.print := tell 'm';
  ignore
    (Gc.create_alarm (fun () ->
         if (Gc.quick_stat ()).heap_words > !most_words then crash "it needs too much memory"));
  match work () with () -> exit 0 | exception e -> crash (Printexc.to_string e)

(* What a child told: the file that it was at last, and why it ended. *)
let follow said channel =
  let rec go file why =
    match input_char channel with
    | exception End_of_file -> (file, why)
    | kind -> (
        match really_input_string channel (input_binary_int channel) with
        | exception (End_of_file | Invalid_argument _) -> (file, why)
        | text when kind = 'f' -> go text why
        | text when kind = 'x' -> go file text
        | text ->
            if not (Hashtbl.mem said text) then Messages.say "%s" text;
            Hashtbl.replace said text ();
            go file why)
  in
  go "" ""

(* Signals that a fault of the program itself sends. *)
let faults =
  [ (Sys.sigsegv, "segmentation fault"); (Sys.sigbus, "bus error"); (Sys.sigabrt, "aborted");
    (Sys.sigill, "illegal instruction"); (Sys.sigfpe, "arithmetic fault");
    (Sys.sigprof, "it takes too long") ]

type ending = Status of int | Crash of string

let ending why : Unix.process_status -> ending = function
  | WEXITED ((0 | 3 | 5) as code) -> Status code
  | WEXITED code -> Crash (if why = "" then Printf.sprintf "exit status %d" code else why)
  | WSIGNALED signal | WSTOPPED signal -> (
      match List.assoc_opt signal faults with
      | Some fault -> Crash fault
      | None ->
          Messages.say "ended by %s"
            (if signal = Sys.sigkill then "SIGKILL; is there enough memory?" else "a signal");
          Status 5)

let rec wait pid =
  try snd (Unix.waitpid [] pid) with Unix.Unix_error (Unix.EINTR, _, _) -> wait pid

let once said work =
  let input, output = Unix.pipe ~cloexec:true () in
  match Unix.fork () with
  | 0 ->
      Unix.close input;
      child output work
  | pid ->
      Unix.close output;
      let channel = Unix.in_channel_of_descr input in
      let file, why = follow said channel in
      close_in channel;
      (file, ending why (wait pid))

(* The exit status of the work; [clean_up] removes what a child that crashed has left. *)
let run ~clean_up work =
  let said = Hashtbl.create 10 in
  let rec go restarts =
    match once said work with
    | _, Status status -> status
    | file, Crash why ->
        clean_up ();
        if file = "" || is_skipped file then (
          Messages.say "nothing is written: %s" why;
          3)
        else if restarts = most_restarts then (
          Messages.say "%s: damaged, or not understood (%s); too many are: nothing is written" file why;
          3)
        else (
          Messages.warn "%s: skipped: damaged, or not understood (%s)" file why;
          Hashtbl.add skipped file ();
          go (restarts + 1))
  in
  try go 0
  with Unix.Unix_error (e, call, _) ->
    Messages.say "%s: %s" call (Unix.error_message e);
    5

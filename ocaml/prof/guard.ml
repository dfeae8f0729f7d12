(* Does the work in a child process, which tells what file it is at: a damaged file may well end it,
   since what the compiler wrote has no types that could be checked.  Then the work starts again,
   carefully, which finds damaged interfaces before others use them, and then without that file. *)

let most_restarts = 20

(* Of the processor's time, and of memory in words, that one file may take; what undamaged ones take
   is less than a hundredth of it. *)
let seconds size = 60. +. (float size /. 50_000.)
let words size = (256 * 1024 * 1024) + (32 * size)

(* Files that have ended a child. *)
let skipped : (string, unit) Hashtbl.t = Hashtbl.create 1

(* Since a child has crashed: what is read is looked at as a whole, which takes time. *)
let careful = ref false

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

(* What the C library says of damaged memory. *)
let silence () =
  let null = Unix.openfile "/dev/null" [ O_WRONLY ] 0 in
  Unix.dup2 null Unix.stderr;
  Unix.close null

let child output work =
  if not !Messages.verbose then silence ();
  parent := Some (Unix.out_channel_of_descr output);
  Messages.print := tell 'm';
  ignore
    (Gc.create_alarm (fun () ->
         if (Gc.quick_stat ()).heap_words > !most_words then crash "it needs too much memory"));
  match work () with () -> exit 0 | exception e -> crash (Printexc.to_string e)

(* What a child told: the file that it was at last, why it ended, and the messages, last first. *)
type told = { file : string; why : string; messages : string list }

let follow channel =
  let rec go told =
    match
      let kind = input_char channel in
      (kind, really_input_string channel (input_binary_int channel))
    with
    | exception (End_of_file | Invalid_argument _) -> told
    | 'f', file -> go { told with file }
    | 'x', why -> go { told with why }
    | _, message -> go { told with messages = message :: told.messages }
  in
  go { file = ""; why = ""; messages = [] }

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

let once work =
  let input, output = Unix.pipe ~cloexec:true () in
  match Unix.fork () with
  | 0 ->
      Unix.close input;
      child output work
  | pid ->
      Unix.close output;
      let channel = Unix.in_channel_of_descr input in
      let told = follow channel in
      close_in channel;
      (told, ending told.why (wait pid))

(* Why a child of its own cannot do this with a file; the memory of a process that has read a damaged
   file may be damaged, too. *)
let trial file work =
  match Unix.fork () with
  | 0 ->
      parent := None;
      silence ();
      about file;
      (match work () with () -> Unix._exit 0 | exception _ -> Unix._exit exit_crash)
  | pid -> (
      match ending "it cannot be read" (wait pid) with Status _ -> None | Crash why -> Some why)

(* The exit status of the work; [clean_up] removes what a child that crashed has left.  Its messages
   are those of the last child. *)
let run ~clean_up work =
  let skips = ref [] in
  let rec go restarts =
    match once work with
    | told, Status status ->
        List.iter (Messages.say "%s") (List.rev_append !skips (List.rev told.messages));
        status
    | { file; _ }, Crash why ->
        clean_up ();
        if not !careful then (
          careful := true;
          go restarts)
        else if file = "" || is_skipped file then (
          Messages.say "nothing is written: %s" why;
          3)
        else if restarts = most_restarts then (
          Messages.say "%s: damaged, or not understood (%s); too many are: nothing is written" file why;
          3)
        else (
          skips :=
            Printf.sprintf "warning: %s: skipped: damaged, or not understood (%s)" file why :: !skips;
          Hashtbl.add skipped file ();
          go (restarts + 1))
  in
  try go 0
  with Unix.Unix_error (e, call, _) ->
    Messages.say "%s: %s" call (Unix.error_message e);
    5

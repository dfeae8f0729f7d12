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

(* Of a child: to its parent, and back. *)
let parent : (out_channel * in_channel) option ref = ref None

let most_words = ref max_int

(* A letter, a length, a text. *)
let send channel kind text =
  output_char channel kind;
  output_binary_int channel (String.length text);
  output_string channel text;
  flush channel

let receive channel =
  let kind = input_char channel in
  (kind, really_input_string channel (input_binary_int channel))

(* 'f' the file that the child is at, "" none; 't' a file to be tried; 'm' a message; 'x' an exception
   that ends it. *)
let tell kind text = Option.iter (fun (channel, _) -> send channel kind text) !parent

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

let limit_memory () =
  ignore
    (Gc.create_alarm (fun () ->
         if (Gc.quick_stat ()).heap_words > !most_words then crash "it needs too much memory"))

let child input output work =
  if not !Messages.verbose then silence ();
  parent := Some (Unix.out_channel_of_descr output, Unix.in_channel_of_descr input);
  Messages.print := tell 'm';
  limit_memory ();
  match work () with () -> exit 0 | exception e -> crash (Printexc.to_string e)

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

(* Why a process of its own cannot try a file out: one that has read a damaged file may have damaged
   memory.  It comes from the parent, whose memory is small, so that collecting all of it is cheap. *)
let trial file try_out =
  match Unix.fork () with
  | 0 ->
      silence ();
      limit_memory ();
      about file;
      (match try_out file with () -> Unix._exit 0 | exception _ -> Unix._exit exit_crash)
  | pid -> (
      match ending "it cannot be read" (wait pid) with Status _ -> None | Crash why -> Some why)

(* Each file is tried once, however often children start again. *)
let trials : (string, string option) Hashtbl.t = Hashtbl.create 100

let trial_once file try_out =
  match Hashtbl.find_opt trials file with
  | Some outcome -> outcome
  | None ->
      let outcome = trial file try_out in
      Hashtbl.add trials file outcome;
      outcome

(* Of a child that is careful: what a trial says of this file. *)
let tried file =
  match !parent with
  | None -> None
  | Some (_, answers) -> (
      tell 't' file;
      match receive answers with '-', why -> Some why | _ -> None)

let answer channel = function None -> send channel '+' "" | Some why -> send channel '-' why

(* What a child told: the file that it was at last, why it ended, and the messages, last first. *)
type told = { file : string; why : string; messages : string list }

let follow input output try_out =
  let rec go told =
    match receive input with
    | exception (End_of_file | Invalid_argument _) -> told
    | 'f', file -> go { told with file }
    | 't', file ->
        (try answer output (trial_once file try_out) with Sys_error _ -> ());
        go told
    | 'x', why -> go { told with why }
    | _, message -> go { told with messages = message :: told.messages }
  in
  go { file = ""; why = ""; messages = [] }

let once work try_out =
  let from_child, to_parent = Unix.pipe ~cloexec:true () in
  let from_parent, to_child = Unix.pipe ~cloexec:true () in
  match Unix.fork () with
  | 0 ->
      Unix.close from_child;
      Unix.close to_child;
      child from_parent to_parent work
  | pid ->
      Unix.close to_parent;
      Unix.close from_parent;
      let input = Unix.in_channel_of_descr from_child in
      let output = Unix.out_channel_of_descr to_child in
      let sigpipe = Sys.signal Sys.sigpipe Signal_ignore in
      let told = follow input output try_out in
      close_in input;
      close_out_noerr output;
      Sys.set_signal Sys.sigpipe sigpipe;
      (told, ending told.why (wait pid))

(* The exit status of the work; [try_out] reads one file and looks at all of it; [clean_up] removes what
   a child that crashed has left.  The messages are those of the last child. *)
let run ~try_out ~clean_up work =
  let skips = ref [] in
  let rec go restarts =
    match once work try_out with
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

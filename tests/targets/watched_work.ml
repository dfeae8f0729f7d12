(* What the watched programs of OCaml share: their record (watched.h), and work whose result is
   known. *)

external open_record : string -> int -> unit = "watched_ml_open" [@@noalloc]
external begin_thread : unit -> unit = "watched_ml_thread" [@@noalloc]
external ready : unit -> unit = "watched_ml_ready" [@@noalloc]
external round : int -> bool -> unit = "watched_ml_round" [@@noalloc]
external interrupted : unit -> unit = "watched_ml_interrupted" [@@noalloc]
external is_ending : unit -> bool = "watched_ml_ending" [@@noalloc]
external result : unit -> unit = "watched_ml_result" [@@noalloc]

(* Threads that have done nothing yet. *)
let to_begin = Atomic.make 0

let began () = if Atomic.fetch_and_add to_begin (-1) = 1 then ready ()

(* Again and again until the end; [step] says whether its result was right. *)
let repeat slot step =
  begin_thread ();
  round slot (step ());
  began ();
  while not (is_ending ()) do
    round slot (step ())
  done

(* Allocates, calls the runtime and C functions, and reads back what it wrote. *)
let table () =
  let count = 1000 in
  let table = Hashtbl.create 16 in
  for i = 1 to count do
    Hashtbl.replace table i (string_of_int i)
  done;
  let sum = ref 0 in
  for i = 1 to count do
    sum := !sum + int_of_string (Hashtbl.find table i)
  done;
  !sum = count * (count + 1) / 2

(* Uses stack and floating-point registers; all sums are whole numbers, so exact. *)
let floats () =
  let rec sum depth a b c d =
    if depth = 0 then a +. b +. c +. d
    else 1.0 +. sum (depth - 1) (a +. 1.0) (b +. 2.0) (c +. 3.0) (d +. 4.0)
  in
  sum 1000 0.0 0.0 0.0 0.0 = 11000.0

let both () = table () && floats ()

(* Waits in system calls that nothing interrupts. *)
let wait () =
  (match Unix.select [] [] [] 0.01 with
   | _ -> ()
   | exception Unix.Unix_error (_, _, _) -> interrupted ());
  let start = Unix.gettimeofday () in
  Unix.sleepf 0.01;
  Unix.gettimeofday () -. start >= 0.0

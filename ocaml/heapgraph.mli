(** Snapshots of the heap of this program, for the tool [heapgraph].

    A snapshot is a file [heap.dump.PID.N]: an ELF core file of the process, which [heapgraph]
    analyses and which [gdb] opens, too. [N] counts from 0; a number whose file exists is passed
    over. The file appears under its name when it is complete. It is written by a forked child, so
    the program itself stands still for the fork only: some 20 to 40 milliseconds for each gigabyte
    of memory. While the child writes, the first write of the program to each page copies the page.

    OCaml 4.13, 4.14 and 5.0 to 5.5 on Linux, x86-64, native code. The library starts no thread and
    handles no signal unless it is asked to; children of its own are invisible to [Unix.wait] and
    [SIGCHLD].

    {1 Without a change of the program}

    Linking the library is enough. The variable [HEAPGRAPH] of the environment holds one or more of
    these, separated by commas:

    - [m]: dump after every major collection; [m=N]: after every Nth
    - [p=SECONDS]: dump every so often, a number such as [30] or [0.5], at least 0.001
    - [dir=PATH]: the folder for all dumps, {!dump_heap}'s too, instead of the current one; without
      a comma in it

    The program does not wait for these dumps, except at its end for the one that is on its way.
    While one is being written, others that fall due are left out. A dump that fails is told in one
    line on stderr; so is a variable that cannot be understood, which is then ignored as a whole.
    [p] and {!on_sighup} dump at the next point where OCaml code could run a signal handler: a
    program that sleeps in a system call dumps when it has returned.

    {1 From the program}

    {[
      let () =
        (match Heapgraph.sample () with
        | Ok () -> ()
        | Error why -> prerr_endline ("no locations: " ^ why));
        let cache = Hashtbl.create 16 in
        for i = 1 to 100_000 do
          Hashtbl.replace cache i (string_of_int i)
        done;
        (match Heapgraph.dump_heap ~name:"cache is full" () with
        | file -> print_endline ("heapgraph summary " ^ file)
        | exception Sys_error why -> prerr_endline why);
        Heapgraph.stop ();
        ignore (Sys.opaque_identity cache)
    ]} *)

val dump_heap : ?name:string -> unit -> string
(** Writes a snapshot and returns the path of the file, which is complete then. Other threads and
    domains go on while it is written; the garbage collector is not run. [name] (at most 79 bytes
    of it) is kept in the file as what triggered it; [heapgraph info] shows it.

    Domains of OCaml 5 are stopped for the fork; how long that took is in {!last}.

    @raise Sys_error if the file cannot be written: no such folder, no permission, the disk is full,
    no memory for a fork. No part of a file stays behind.
    @raise Failure if the child was killed, or if the program is bytecode. *)

val on_sighup : unit -> unit
(** From now on the signal SIGHUP makes a snapshot, as [HEAPGRAPH] does without waiting for it.
    Replaces the program's own handler of SIGHUP.

    @raise Failure if the program is bytecode. *)

(** What a snapshot was and what it cost; times in seconds. *)
type stats = {
  file : string;  (** its path *)
  number : int;  (** the [N] in its name *)
  trigger : string;
      (** the name given to {!dump_heap}, or ["dump_heap"], ["SIGHUP"], ["major collection"],
          ["period"] *)
  domains : int;  (** domains that stood still for it; 1 in OCaml 4 *)
  stop_wait : float;
      (** from the request until all domains stood still; 0 in OCaml 4. Each domain stands still
          from its own arrival on, the calling one for all of it. *)
  pause : float;  (** the fork, during which no OCaml code runs *)
  write_time : float;  (** from the fork to the complete file; the program runs *)
  bytes : int;  (** written, holes of the file not counted *)
}

val last : unit -> stats option
(** The last snapshot whose file is complete; [None] before the first, and again in a child made by
    [Unix.fork]. Allocates; costs nothing else. *)

val sample : ?rate:float -> unit -> (unit, string) result
(** Starts to note where blocks are allocated, so that snapshots carry locations: each word is
    sampled with the probability [rate], and a sampled block keeps its call stack (128 frames at
    most) as long as it lives. Only blocks allocated from now on have locations, and [1 / rate]
    words are between two samples on average.

    The default of [1e-4] costs less than can be told from noise; [docs/ocaml-library.md] has the
    figures. In memory a sample costs the call stack, one word for each frame and one, and six words
    of the runtime.

    In OCaml 5.3 this is about the calling domain and those that it spawns afterwards.

    [Error] says why it does not work: [Gc.Memprof] is missing in OCaml 5.0 to 5.2; another
    profiler is using it; it is sampling already; [rate] is not above 0 and at most 1. *)

val stop : unit -> unit
(** Stops the sampling and forgets all samples: snapshots made later have no locations. Does nothing
    if {!sample} has not been started. To be called, in OCaml 5.3, from a domain that samples. *)

external dump_and_wait : string -> string -> string = "heapgraph_dump"
external dump_unattended : string -> string -> unit = "heapgraph_dump_unattended"
external close : unit -> unit = "heapgraph_close"
external init : unit -> unit = "heapgraph_init"
external clock_signal : unit -> int = "heapgraph_clock_signal"
external start_clock : float -> unit = "heapgraph_clock"

type stats = {
  file : string;
  number : int;
  trigger : string;
  domains : int;
  stop_wait : float;
  pause : float;
  write_time : float;
  bytes : int;
}

external last : unit -> stats option = "heapgraph_last"

let folder = ref ""

(* There is no reader for the heap of the bytecode interpreter. *)
let is_native = Sys.backend_type = Sys.Native
let not_native = "Heapgraph: only programs in native code can be dumped, this one is bytecode"

let dump_heap ?(name = "dump_heap") () =
  if not is_native then failwith not_native;
  dump_and_wait !folder name

let on_sighup () =
  if not is_native then failwith not_native;
  Sys.set_signal Sys.sighup (Sys.Signal_handle (fun _ -> dump_unattended !folder "SIGHUP"))

(* Sampling *)

(* start returns unit up to 5.2 and something to discard since 5.3; only there discard is not the
   one defined here. *)
module Memprof = struct
  let discard _ = () [@@warning "-32"]

  include Gc.Memprof
end

let sampling = ref None
let deepest = 128 (* frames kept of a call stack *)

(* Live blocks keep the call stack as long as they live. *)
let tracker =
  let keep (allocation : Gc.Memprof.allocation) = Some allocation.callstack in
  {
    Gc.Memprof.alloc_minor = keep;
    alloc_major = keep;
    promote = (fun callstack -> Some callstack);
    dealloc_minor = ignore;
    dealloc_major = ignore;
  }

let is_without_memprof =
  let begins version = String.starts_with ~prefix:version Sys.ocaml_version in
  List.exists begins [ "5.0."; "5.1."; "5.2." ]

let sample ?(rate = 1e-4) () =
  if not (rate > 0. && rate <= 1.) then Error (Printf.sprintf "the rate %g is not in ]0, 1]" rate)
  else if is_without_memprof then
    Error ("OCaml " ^ Sys.ocaml_version ^ " cannot sample: Gc.Memprof is missing in 5.0 to 5.2")
  else if Option.is_some !sampling then Error "it is sampling already"
  else
    match Memprof.start ~sampling_rate:rate ~callstack_size:deepest tracker with
    | handle ->
        sampling := Some handle;
        Ok ()
    | exception Failure _ -> Error "another profiler is using Gc.Memprof"

let stop () =
  match !sampling with
  | None -> ()
  | Some handle -> (
      sampling := None;
      try
        Memprof.stop ();
        Memprof.discard handle
      with Failure _ -> (* the program has stopped Gc.Memprof itself *) ())

(* HEAPGRAPH *)

type wish = { majors : int option; period : float option; dir : string option }

let longest_period = 1e9

(* What stands after the = of an item; None: there is none. *)
let split item =
  match String.index_opt item '=' with
  | None -> (item, None)
  | Some at -> (String.sub item 0 at, Some (String.sub item (at + 1) (String.length item - at - 1)))

let add_item wish item =
  match split item with
  | "m", None -> Some { wish with majors = Some 1 }
  | "m", Some text -> (
      match int_of_string_opt text with
      | Some every when every > 0 -> Some { wish with majors = Some every }
      | _ -> None)
  | "p", Some text -> (
      match float_of_string_opt text with
      | Some period when period >= 0.001 && period <= longest_period ->
          Some { wish with period = Some period }
      | _ -> None)
  | "dir", Some path when path <> "" -> Some { wish with dir = Some path }
  | _ -> None

let parse text =
  let add wish item =
    match wish with
    | Error _ -> wish
    | Ok wish -> ( match add_item wish item with Some wish -> Ok wish | None -> Error item)
  in
  List.fold_left add (Ok { majors = None; period = None; dir = None }) (String.split_on_char ',' text)

let warn text = prerr_endline ("heapgraph: " ^ text)

let dump_after_majors every =
  let count = ref 0 in
  let ended () =
    incr count;
    if !count mod every = 0 then dump_unattended !folder "major collection"
  in
  ignore (Gc.create_alarm ended : Gc.alarm)

let dump_periodically period =
  Sys.set_signal (clock_signal ()) (Sys.Signal_handle (fun _ -> dump_unattended !folder "period"));
  try start_clock period with Sys_error text -> warn text

(* The program may go to another folder before it dumps. *)
let absolute path =
  if not (Filename.is_relative path) then path
  else try Filename.concat (Sys.getcwd ()) path with Sys_error _ -> path

let obey wish =
  Option.iter (fun path -> folder := absolute path) wish.dir;
  if is_native then (
    Option.iter dump_after_majors wish.majors;
    Option.iter dump_periodically wish.period)
  else if wish.majors <> None || wish.period <> None then warn not_native

let () =
  init ();
  (* The dump that is on its way is complete when the program has ended. *)
  at_exit close;
  match Sys.getenv_opt "HEAPGRAPH" with
  | None | Some "" -> ()
  | Some text -> (
      match parse text with
      | Ok wish -> obey wish
      | Error item ->
          warn
            (Printf.sprintf "HEAPGRAPH=%s is ignored: '%s' is none of m, m=N, p=SECONDS, dir=PATH"
               text item))

(* traced SIZE RATE LOG: Gc.Memprof keeps a number with each sampled block, given as memtrace's tracker
   gives them: one for each allocation, in their order, from 0.  The events go to LOG, a line each, from
   which tests/ocaml/record makes a trace.  OCaml 5.0 to 5.2 cannot.

     TRACKED live=N             blocks that the tracker has been told of and that are alive
     SITE at=FILE:LINE:S-E blocks=N   of these, those allocated there; '?' where that is not known *)

type item = { name : string; size : int; mutable next : item option }
type tree = Leaf | Node of tree * int * tree

let log = open_out_bin Sys.argv.(3)
let told = ref 0
let count = ref 0
let start = Unix.gettimeofday ()
let now () = int_of_float (1e6 *. (Unix.gettimeofday () -. start))

(* Of each number the place, and of each place how many are alive. *)
let places : (int, string) Hashtbl.t = Hashtbl.create 100
let live : (string, int) Hashtbl.t = Hashtbl.create 100
let add place n =
  Hashtbl.replace live place (n + Option.value ~default:0 (Hashtbl.find_opt live place))

(* Codes of frames; what is inlined at one, outermost first, is told once. *)
let codes : (Printexc.raw_backtrace_entry, int) Hashtbl.t = Hashtbl.create 100

let slots_of entry =
  let rec all slot =
    Printexc.convert_raw_backtrace_slot slot
    :: (match Printexc.get_raw_backtrace_next_slot slot with None -> [] | Some next -> all next)
  in
  all entry

let code_of backtrace i =
  let entry = (Printexc.raw_backtrace_entries backtrace).(i) in
  match Hashtbl.find_opt codes entry with
  | Some code -> code
  | None ->
      let code = Hashtbl.length codes + 1 in
      Hashtbl.add codes entry code;
      List.iter
        (fun slot ->
          match Printexc.Slot.location slot with
          | None -> ()
          | Some { filename; line_number; start_char; end_char } ->
              Printf.fprintf log "place %d %d %d %d %s %s\n" code line_number start_char end_char
                filename
                (Option.value ~default:"??" (Printexc.Slot.name slot)))
        (List.rev (slots_of (Printexc.get_raw_backtrace_slot backtrace i)));
      code

let innermost backtrace =
  if Printexc.raw_backtrace_length backtrace = 0 then "?"
  else
    let slot = Printexc.convert_raw_backtrace_slot (Printexc.get_raw_backtrace_slot backtrace 0) in
    match Printexc.Slot.location slot with
    | None -> "?"
    | Some l -> Printf.sprintf "%s:%d:%d-%d" l.filename l.line_number l.start_char l.end_char

(* What is said, made in a callback, where nothing is sampled. *)
let wanted = ref false
let text = ref ""

let facts () =
  let site place n all =
    if n = 0 then all else Printf.sprintf "SITE at=%s blocks=%d\n" place n ^ all
  in
  Printf.sprintf "TRACKED live=%d\n" (Hashtbl.fold (fun _ n sum -> n + sum) live 0)
  ^ Hashtbl.fold site live ""

let allocated is_major (info : Gc.Memprof.allocation) =
  incr told;
  let id = !count in
  incr count;
  let depth = Printexc.raw_backtrace_length info.callstack in
  let stack = List.init depth (fun i -> code_of info.callstack (depth - 1 - i)) in
  let source =
    match info.source with Custom -> "external" | _ -> if is_major then "major" else "minor"
  in
  Printf.fprintf log "allocation %d %s %d %d%s\n" (now ()) source info.size info.n_samples
    (String.concat "" (List.map (Printf.sprintf " %d") stack));
  let place = innermost info.callstack in
  Hashtbl.replace places id place;
  add place 1;
  if !wanted then text := facts ();
  wanted := false;
  Some id

let promoted id =
  incr told;
  Printf.fprintf log "promotion %d %d\n" (now ()) id;
  Some id

let freed id =
  incr told;
  Printf.fprintf log "collection %d %d\n" (now ()) id;
  add (Hashtbl.find places id) (-1)

let tracker =
  {
    Gc.Memprof.alloc_minor = allocated false;
    alloc_major = allocated true;
    promote = promoted;
    dealloc_minor = freed;
    dealloc_major = freed;
  }

let rec tree depth = if depth = 0 then Leaf else Node (tree (depth - 1), depth, tree (depth - 1))
let row i = Array.make 20 i
let item i = { name = Printf.sprintf "item %d" i; size = i; next = None }
let cache : (int, item) Hashtbl.t = Hashtbl.create 16
let rows = ref [||]
let grown = ref Leaf
let untold = ref []

(* It is true if nothing was told after it was made, for which there is time at an allocation. *)
let rec say_facts () =
  Gc.full_major ();
  wanted := true;
  while !wanted do
    ignore (Sys.opaque_identity (ref 0))
  done;
  let before = !told in
  ignore (Sys.opaque_identity (ref before));
  if !told = before then begin
    print_string !text;
    flush stdout;
    flush log;
    print_string "READY\n";
    flush stdout
  end
  else say_facts ()

let () =
  let size = int_of_string Sys.argv.(1) and rate = float_of_string Sys.argv.(2) in
  Printf.fprintf log "process %d %g %d\n" (Unix.getpid ()) rate (int_of_float (1e6 *. start));
  ignore (Gc.Memprof.start ~sampling_rate:rate ~callstack_size:max_int tracker);
  grown := tree (if size < 1000 then 8 else 12);
  rows := Array.init (size / 10) row;
  untold := Untold.cells size;
  for i = 1 to size do
    Hashtbl.replace cache i (item i)
  done;
  say_facts ();
  let rec wait () : unit =
    Unix.pause ();
    wait ()
  in
  wait ()

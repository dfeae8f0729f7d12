(* sampled SIZE: Gc.Memprof keeps the call stack of every 100th word, and the program counts what
   is tracked.  OCaml 5.0 to 5.2 cannot.

     TRACKED live=N      blocks that the tracker has been told of and that are alive
     MADE line=L bytes=B what was allocated in a line of this file while words were sampled, and is
                         alive
     OWNED name=BYTES    outside the heap, as the runtime was told *)

type owner

external owner : int -> owner = "stubs_owner"

let live = ref 0
let told = ref 0

let allocated info =
  incr told;
  incr live;
  Some info.Gc.Memprof.callstack

let freed _ =
  incr told;
  decr live

(* As it is, or in a value of the program's own. *)
let whole_tracker =
  { Gc.Memprof.null_tracker with
    alloc_minor = (fun info -> Some (if info.Gc.Memprof.size mod 2 = 0 then Obj.repr info
      else Obj.repr (info.callstack, "mine")));
    promote = Option.some }

let tracker =
  {
    Gc.Memprof.alloc_minor = allocated;
    alloc_major = allocated;
    promote = (fun stack -> Some stack);
    dealloc_minor = freed;
    dealloc_major = freed;
  }

type tree = Leaf | Node of tree * int * tree

let tree_line = __LINE__ + 3

let rec tree depth =
  if depth = 0 then Leaf else Node (tree (depth - 1), depth, tree (depth - 1))

let row_line = __LINE__ + 1
let row i = Array.make 20 i
let texts n = List.init n (Printf.sprintf "text number %d")

(* The statistics and the count belong together only if no sample was taken between them; printing
   a string that is there already allocates nothing. *)
let rec print_settled () =
  let line = Report.stat_line () in
  let before = !told in
  let text = line ^ "TRACKED live=" ^ string_of_int !live ^ "\nREADY\n" in
  ignore (Sys.opaque_identity (ref before));
  if !told = before then begin
    print_string text;
    flush stdout
  end
  else print_settled ()

let () =
  let size = int_of_string Sys.argv.(1) in
  if Array.length Sys.argv > 2 then
    ignore (Gc.Memprof.start ~sampling_rate:1e-2 ~callstack_size:20 whole_tracker)
  else ignore (Gc.Memprof.start ~sampling_rate:1e-2 ~callstack_size:20 tracker);
  let grown = tree 13 in
  let words = texts size in
  let rows = Array.init (size / 10) row in
  let large = Array.make 50000 0.5 in
  let copy : string list = Marshal.from_string (Marshal.to_string (texts (size / 4)) []) 0 in
  let outside = Bigarray.Array1.create Bigarray.char Bigarray.c_layout 100000 in
  let owner = owner 1_600_000 in
  Gc.full_major ();
  Report.program ();
  Report.reported :=
    [ ("grown", Obj.repr grown); ("words", Obj.repr words); ("rows", Obj.repr rows);
      ("large", Obj.repr large); ("copy", Obj.repr copy); ("outside", Obj.repr outside);
      ("owner", Obj.repr owner) ];
  List.iter Report.value !Report.reported;
  Printf.printf "OWNED outside=100000\nOWNED owner=1600000\n";
  (* Nodes of three words, rows of twenty, and a header each. *)
  Printf.printf "MADE line=%d bytes=%d\n" tree_line (((1 lsl 13) - 1) * 8 * 4);
  Printf.printf "MADE line=%d bytes=%d\n" row_line (size / 10 * 8 * 21);
  print_settled ();
  Report.wait ()

(* Loops that never rest and hold marked blocks nowhere but on their own stack.

   A worker makes [count] arrays of [wosize] words.  Array k has k in all its words but one, which
   moves about; the sum of an array is therefore always (wosize - 1) * k + 1.  The loop checks its
   arithmetic as it goes.  At the end, which is when [stop] is set, a worker returns how often it
   was wrong: 0, whatever happened to the process meanwhile. *)

let wosize = 97
let stop = ref false
let rounds = Array.make 64 0
let to_begin = Atomic.make 0

let marked count = Array.init count (fun k -> Array.init wosize (fun i -> if i = 0 then k + 1 else k))

let wrong arrays =
  let count = ref 0 in
  Array.iteri
    (fun k array -> if Array.fold_left ( + ) 0 array <> (wosize * k) + 1 then incr count)
    arrays;
  !count

(* The word that is one too large takes another place. *)
let move array from into =
  let word = array.(from) in
  array.(from) <- array.(into);
  array.(into) <- word

type tree = Leaf | Node of tree * int * tree

let rec tree depth = if depth = 0 then Leaf else Node (tree (depth - 1), depth, tree (depth - 1))
let rec nodes = function Leaf -> 0 | Node (left, _, right) -> nodes left + 1 + nodes right

(* Allocates many small blocks in OCaml code. *)
let build_trees _ = if nodes (tree 8) = 255 then 0 else 1

(* Time passes in a C function that is called without leaving OCaml (noalloc): caml_hash. *)
let texts = List.init 300 string_of_int
let hash_of_texts = Hashtbl.hash_param 300 300 texts
let hash _ = if Hashtbl.hash_param 300 300 texts = hash_of_texts then 0 else 1

(* Keeps a table changing, so that blocks are promoted, the major heap grows and is swept. *)
let churn () =
  let table = Hashtbl.create 100 in
  fun round ->
    let key = round * 7919 mod 5000 in
    Hashtbl.replace table key (string_of_int key, Array.make (key mod 60) key);
    let text, array = Hashtbl.find table key in
    if int_of_string text = key && Array.length array = key mod 60 then 0 else 1

(* Keeps the major heap full of holes, from which large blocks of text are cut off. *)
let pages () =
  let step = churn () in
  fun round ->
    let text = Bytes.make (32768 + (520 * (round * 7 land 31))) 'x' in
    step round + if Bytes.get text (round land 0xfff) = 'x' then 0 else 1

(* The last worker that has its arrays and is at work says that all is ready. *)
let begun () =
  if Atomic.fetch_and_add to_begin (-1) = 1 then begin
    print_string "READY\n";
    flush stdout
  end

let work slot count step =
  let arrays = marked count in
  let errors = ref 0 in
  while not !stop do
    let round = rounds.(slot) + 1 in
    rounds.(slot) <- round;
    errors := !errors + step round;
    move arrays.(round mod count) (round mod wosize) (round * 31 mod wosize);
    if round = 1 then begun ()
  done;
  !errors + wrong arrays

let prepare workers =
  Atomic.set to_begin workers;
  Sys.set_signal Sys.sigterm (Sys.Signal_handle (fun _ -> stop := true))

(* The result that captures must not change; that something was done at all is part of it. *)
let finish workers errors =
  let idle = ref 0 in
  for slot = 0 to workers - 1 do
    if rounds.(slot) = 0 then incr idle
  done;
  Printf.printf "RESULT workers=%d errors=%d idle=%d\n%!" workers errors !idle

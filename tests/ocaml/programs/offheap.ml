(* offheap: memory outside the heap, and whose it is.

     ONE OF name=BYTES          equals: one of these owns it
     OWNS name=BYTES            of the value at ADDR name
     AT LEAST name=BYTES        the same, where malloc() may have rounded up by less than a page and a bit
     FILES bytes=BYTES          that Bigarrays map
     TOUCHED bytes=BYTES        of what is owned, pages that were written to: at least so many
     UNTOUCHED bytes=BYTES      pages that were not: the same
     READ bytes=BYTES           pages that were only read: the same; 0 if these got memory, too *)

open Bigarray

external outside : int -> bool -> (char, int8_unsigned_elt, c_layout) Array1.t = "stubs_outside"

let values = ref []

(* What a value owns is known from the language alone: the size of its data. *)
let owns name value bytes =
  values := (name, Obj.repr value) :: !values;
  Printf.printf "OWNS %s=%d\n" name bytes

let owns_at_least name value bytes =
  values := (name, Obj.repr value) :: !values;
  Printf.printf "AT LEAST %s=%d\n" name bytes

let one_of name value bytes =
  values := (name, Obj.repr value) :: !values;
  Printf.printf "ONE OF %s=%d\n" name bytes

let array name array = owns name array (Genarray.size_in_bytes array)
let chars n = Array1.create char c_layout n

let each_kind () =
  let both name kind dimensions =
    array (name ^ "_c") (Genarray.create kind c_layout dimensions);
    array (name ^ "_fortran") (Genarray.create kind fortran_layout dimensions)
  in
  both "float32" float32 [| 100 |];
  both "float64" float64 [| 10; 20 |];
  both "int8_signed" int8_signed [| 3; 5; 7 |];
  both "int8_unsigned" int8_unsigned [| 1001 |];
  both "int16_signed" int16_signed [| 11; 13 |];
  both "int16_unsigned" int16_unsigned [| 1 |];
  both "int32" int32 [| 2; 3; 4; 5 |];
  both "int64" int64 [| 1000 |];
  both "int" int [| 77 |];
  both "nativeint" nativeint (Array.make 16 2);
  both "complex32" complex32 [| 9; 9 |];
  both "complex64" complex64 [| 500; 40 |];
  both "char" char [| 123456 |];
  array "no_dimension" (Genarray.create float64 c_layout [||]);
  owns "empty" (chars 0) 0;
  (* float16 is the kind after char, from 5.2 on. *)
  if int_of_char Sys.ocaml_version.[0] > int_of_char '4' && Sys.ocaml_version >= "5.2" then
    owns "float16" (Genarray.create (Obj.magic (Obj.repr 13) : (float, float32_elt) kind) c_layout [| 1000 |]) 2000

(* Data that several have count once, with the one that sees most. *)
let parts () =
  let whole = chars 100_000 in
  owns "whole" whole 100_000;
  owns "its_part" (Array1.sub whole 5 10) 0;
  owns "part_of_its_part" (Array1.sub (Array1.sub whole 50 500) 1 3) 0;
  let matrix = Array2.create float64 c_layout 30 40 in
  owns "matrix" matrix (30 * 40 * 8);
  owns "its_row" (Array2.slice_left matrix 7) 0;
  let cube = Genarray.create int32 fortran_layout [| 4; 5; 6 |] in
  one_of "cube" cube 480;
  owns "its_right_slice" (Genarray.slice_right cube [| 2 |]) 0;
  one_of "reshaped" (reshape_1 cube 120) 480;
  let first = chars 10 in
  (* Only parts are left of these. *)
  owns_at_least "orphan" (Array1.sub (chars 5_000_000) 100 50) 5_000_000;
  owns_at_least "small_orphan" (Array1.sub (chars 9_000) 8_000 10) 9_000;
  let gone = chars 2_000_000 in
  owns_at_least "larger_half" (Array1.sub gone 10 1_000_000) 2_000_000;
  owns "smaller_half" (Array1.sub gone 1_500_000 400_000) 0;
  array "ten" (genarray_of_array1 first)

(* A file belongs to nobody's heap; nor does memory that C keeps for itself. *)
let files () =
  let name = Filename.temp_file "heapgraph" "map" in
  let file = Unix.openfile name [ Unix.O_RDWR ] 0o600 in
  let shared = Unix.map_file file float64 c_layout true [| 2000 |] in
  let own = array1_of_genarray (Unix.map_file file char c_layout false [| 10000 |]) in
  Unix.close file;
  Sys.remove name;
  own.{5000} <- 'x';
  owns "shared_file" shared 0;
  owns "its_half" (Genarray.sub_left shared 500 1000) 0;
  owns "own_file" own 0;
  Printf.printf "FILES bytes=%d\n" (16000 + 10000);
  owns "of_c" (outside 1000 false) 0;
  owns "given_by_c" (outside 4000 true) 4000

let channels = ref []

let others () =
  channels := List.init 5 (fun _ -> open_in "/dev/null");
  let mutex = Mutex.create () and condition = Condition.create () in
  owns "mutex" mutex 40;
  owns "condition" condition 48

let filled n = 
  let a = chars n in
  Array1.fill a '\000';
  a

let looked_at n =
  let a = chars n in
  for i = 0 to n - 1 do
    assert (a.{i} = '\000')
  done;
  a

(* Bytes of private memory that this process has, as the kernel counts them. *)
let anonymous () =
  let file = open_in "/proc/self/smaps_rollup" in
  let rec find () =
    match input_line file with
    | line when String.sub line 0 10 = "Anonymous:" ->
        Scanf.sscanf line "Anonymous: %d kB" (fun kib -> kib * 1024)
    | _ -> find ()
  in
  Fun.protect find ~finally:(fun () -> close_in file)

(* Pages that were written to are in memory, of zeros too; others are not.  Those that were only read
   are the kernel's page of zeros; a kernel may be built or told to have none. *)
let residence () =
  array "touched" (genarray_of_array1 (filled 20_000_000));
  array "untouched" (genarray_of_array1 (chars 30_000_000));
  let before = anonymous () in
  let seen = looked_at 10_000_000 in
  let given = anonymous () - before > 5_000_000 in
  array "seen" (genarray_of_array1 seen);
  Printf.printf "TOUCHED bytes=%d\nUNTOUCHED bytes=%d\nREAD bytes=%d\n" 20_000_000 30_000_000
    (if given then 0 else 10_000_000)

let rec depth n = if n = 0 then Report.wait () else depth (n - 1); ignore (Sys.opaque_identity n)

let () =
  each_kind ();
  parts ();
  files ();
  others ();
  residence ();
  (* These are freed. *)
  for _ = 1 to 100 do
    ignore (Sys.opaque_identity (filled 1_000_000))
  done;
  let waiting = Thread.create Report.wait () in
  (* What it is started with becomes garbage. *)
  Thread.delay 0.2;
  Report.ready !values;
  depth 1000;
  Thread.join waiting

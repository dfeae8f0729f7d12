(* Waste that is planted, and what of it the program knows: lines 'TRUTH section type words...', each
   of a type that nothing else here has. *)

type pair = { left : int; right : int }
type point = { x : int; y : pair }
type cell = { mutable content : int; fixed : int }
type shape = Square of int * point | Nothing
type wrapped = Wrapped of string
type ring = { number : int; next : ring }
type holder = { name : string; cell : cell }

module Names = Hashtbl.Make (struct
  type t = string

  let equal = String.equal
  let hash = Hashtbl.hash
end)

(* What only this run knows: nothing can be static data. *)
let some = Sys.opaque_identity (Array.length Sys.argv)
let text s n = Bytes.to_string (Bytes.make n s)

(* 40 times the same text of 25 bytes, and 40 different ones. *)
let copies = ref (List.init 40 (fun _ -> text 'c' (24 + some)))
let different = ref (List.init 40 (fun i -> Printf.sprintf "different %d" (i + some)))
let buffers = ref (List.init 10 (fun _ -> Bytes.make (99 + some) 'b'))

(* 5 different pairs 20 times each, in 100 points of 5 kinds, in 100 shapes of 5. *)
let pair i = { left = i mod 5; right = some }
let points = ref (List.init 100 (fun i -> { x = i mod 5; y = pair i }))
let shapes = ref (List.map (fun p -> Square (p.x, p)) !points)

(* Alike, but mutable; and immutable ones that point to different mutable ones. *)
let cells = ref (List.init 50 (fun _ -> { content = some; fixed = 7 }))
let held = ref (List.map (fun cell -> { name = "held"; cell }) !cells)
let alike = ref (List.init 30 (fun _ -> { name = "held"; cell = List.hd !cells }))

(* The same ring three times. *)
let ring () =
  let rec a = { number = some; next = b } and b = { number = 2; next = a } in
  a

let rings = ref [ ring (); ring (); ring () ]

(* Ends of lists that are equal. *)
let lists = ref (List.init 8 (fun i -> string_of_int i :: List.init 6 (fun j -> string_of_int (100 * j))))

(* 1000 buckets are 1024, of which at most 3 are in use; a chain of 20. *)
let empty : (int, pair) Hashtbl.t = Hashtbl.create (999 + some)
let full : (int, pair) Hashtbl.t = Hashtbl.create 16
let named : int Names.t = Names.create 256

let () =
  List.iter (fun i -> Hashtbl.add empty (i + some) (pair i)) [ 1; 2; 3 ];
  for i = 1 to 20 do
    Hashtbl.add full some (pair i)
  done;
  List.iter (fun s -> Names.add named s some) !different

let buffer = Buffer.create 4096
let () = Buffer.add_string buffer (text 'x' 100)
let numbers = ref (List.init 60 (fun i -> Int64.of_int (i + some)))
let array = ref (Array.init 70 (fun i -> Int32.of_int (i + some)))
let options : cell option array = Array.init 80 (fun i -> Some { content = i + some; fixed = i })
let somes : int option array = Array.init 90 (fun i -> Some (i + some))
let boxes = ref (List.init 25 (fun i -> Wrapped (Printf.sprintf "box %d" (i + some))))

(* What the runtime says of these tables. *)
let say_table name (s : Hashtbl.statistics) =
  Printf.printf "TRUTH table %s %d %d %d %d\n" name s.num_bindings s.num_buckets
    (s.num_buckets - s.bucket_histogram.(0))
    s.max_bucket_length

(* Words of the blocks that values have beyond what they have when those equal are shared: by
   marshalling with sharing the same value, built of shared parts. *)
let saved plain shared = Obj.reachable_words (Obj.repr plain) - Obj.reachable_words (Obj.repr shared)

let shared_points () =
  let kinds = Array.init 5 (fun i -> { x = i; y = pair i }) in
  List.init 100 (fun i -> kinds.(i mod 5))

let () =
  let points_saved = saved !points (shared_points ()) in
  Printf.printf "TRUTH string copies 40 %d\n" (39 * Obj.reachable_words (Obj.repr (List.hd !copies)));
  Printf.printf "TRUTH bytes copies 10 %d\n" (9 * Obj.reachable_words (Obj.repr (List.hd !buffers)));
  Printf.printf "TRUTH points %d\n" points_saved;
  say_table "empty" (Hashtbl.stats empty);
  say_table "full" (Hashtbl.stats full);
  say_table "named" (Names.stats named);
  Printf.printf "TRUTH buffer %d %d\n" (Buffer.length buffer) 4096;
  Printf.printf "TRUTH int64 60 %d\n" (60 * Obj.reachable_words (Obj.repr (List.hd !numbers)));
  Printf.printf "TRUTH int32 70 %d\n" (70 * Obj.reachable_words (Obj.repr !array.(0)));
  Printf.printf "TRUTH options 80\nTRUTH somes 90\nTRUTH boxes 25\n";
  Gc.full_major ();
  Gc.full_major ();
  print_endline "READY";
  flush stdout;
  Unix.sleep 1000;
  ignore
    (Sys.opaque_identity
       ( (copies, different, buffers, points, shapes, cells, held, alike, rings),
         (lists, empty, full, named, buffer, numbers, array, options, somes, boxes) ))

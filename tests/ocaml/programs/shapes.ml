(* shapes SIZE SHAPE: heaps that are hard on whoever walks them, by their map or by their depth. *)

let size = int_of_string Sys.argv.(1)

(* One block that is nearly all of the heap, and opaque. *)
let floats () = Obj.repr (Array.init size float_of_int)

(* Blocks of very different sizes that on OCaml 5 do not live in pools: 127, 128 and 129 words are
   at the border. *)
let large () =
  let widths = [| 126; 127; 128; 129; 1000; 4096; 20000; 100003 |] in
  Obj.repr (List.init (1 + (size / 1000)) (fun i -> Array.make widths.(i mod Array.length widths) i))

(* As deep as it is large, and the last cell is the oldest. *)
let deep () =
  let cells = ref [] in
  for i = 1 to size do
    cells := i :: !cells
  done;
  Obj.repr !cells

(* A chain the other way round: each block is allocated after the one that points to it. *)
type link = { number : int; mutable next : link option }

let appended () =
  let first = { number = 0; next = None } in
  let last = ref first in
  for number = 1 to size do
    let link = { number; next = None } in
    !last.next <- Some link;
    last := link
  done;
  Obj.repr first

(* Every second block is freed: holes of every size class. *)
let holes () =
  let all = Array.init size (fun i -> Array.make (1 + (i mod 40)) i) in
  Gc.full_major ();
  Array.iteri (fun i _ -> if i mod 2 = 0 then all.(i) <- [| i |]) all;
  Obj.repr all

(* Strings of every length round the borders of words, and one of many megabytes. *)
let strings () =
  Obj.repr (String.make (8 * size) 's' :: List.init 2000 (fun i -> String.make (i mod 67) 's'))

let () =
  let make =
    match Sys.argv.(2) with
    | "floats" -> floats
    | "large" -> large
    | "deep" -> deep
    | "appended" -> appended
    | "holes" -> holes
    | "strings" -> strings
    | other -> failwith other
  in
  let value = make () in
  Report.ready [ (Sys.argv.(2), value) ];
  Report.wait ();
  ignore (Sys.opaque_identity value)

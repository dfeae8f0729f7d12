(* A heap whose types all hang on values of the module (argument: millions of blocks): tables, maps,
   lists, trees and variants, in about equal parts.  Says READY and waits for its input to end. *)
module Names = Map.Make (String)

type visit = { page : string; mutable seconds : float option; referrer : visit option }
type shape = Circle of float | Polygon of (int * int) list | Named of string * shape
type tree = Leaf | Node of { left : tree; key : int; right : tree }

let visits : (int, visit) Hashtbl.t = Hashtbl.create 1024
let names : int list Names.t ref = ref Names.empty
let shapes : shape list ref = ref []
let forest : tree array = Array.make 64 Leaf

let rec insert key = function
  | Leaf -> Node { left = Leaf; key; right = Leaf }
  | Node n when key < n.key -> Node { n with left = insert key n.left }
  | Node n -> Node { n with right = insert key n.right }

let rec shape i =
  match i land 3 with
  | 0 -> Circle (float i)
  | 1 | 2 -> Polygon [ (i, 1); (2, i); (i, i) ]
  | _ -> Named (string_of_int i, shape (i + 1))

let add i =
  let visit = { page = "page " ^ string_of_int i; seconds = None; referrer = None } in
  visit.seconds <- (if i land 1 = 0 then Some (float i) else None);
  Hashtbl.replace visits i
    (if i land 7 = 0 then { visit with referrer = Some visit } else visit);
  shapes := shape i :: !shapes;
  if i land 3 = 0 then
    names := Names.update (string_of_int (i lsr 4))
        (fun old -> Some (i :: Option.value old ~default:[])) !names;
  forest.(i land 63) <- insert (i * 7919 land 0xffffff) forest.(i land 63)

let () =
  for i = 1 to int_of_string Sys.argv.(1) * 1_000_000 / 15 do add i done;
  Gc.full_major ();
  print_endline "READY";
  (try while true do ignore (input_line stdin) done with End_of_file -> ())

(* A large OCaml program as text: modules that use most of what the type checker knows. *)

let one buffer i =
  let p format = Printf.bprintf buffer format in
  p "module M%d = struct\n" i;
  p "  type 'a tree = Leaf | Node of { left : 'a tree; value : 'a; right : 'a tree; depth : int }\n";
  p "  type item = { name : string; mutable count : int; parts : (int * string) list; weight : float }\n";
  p "  type _ expr =\n    | Int : int -> int expr\n    | Text : string -> string expr\n";
  p "    | Pair : 'a expr * 'b expr -> ('a * 'b) expr\n    | If : bool * 'a expr * 'a expr -> 'a expr\n";
  p "  type shape = [ `Circle of float | `Square of float * string | `Empty_%d ]\n" i;
  p "  type ('k, 'v) table = { data : ('k * 'v) list array; hash : 'k -> int }\n";
  p "  exception Bad of item * shape\n\n";
  p "  let rec insert compare x = function\n    | Leaf -> Node { left = Leaf; value = x; right = Leaf; depth = 1 }\n";
  p "    | Node n when compare x n.value < 0 -> Node { n with left = insert compare x n.left }\n";
  p "    | Node n -> Node { n with right = insert compare x n.right; depth = n.depth + %d }\n\n" i;
  p "  let rec fold f acc = function\n    | Leaf -> acc\n";
  p "    | Node { left; value; right; _ } -> fold f (f (fold f acc left) value) right\n\n";
  p "  let rec eval : type a. a expr -> a = function\n    | Int n -> n + %d\n    | Text s -> s\n" i;
  p "    | Pair (a, b) -> (eval a, eval b)\n    | If (c, a, b) -> if c then eval a else eval b\n\n";
  p "  let describe (s : shape) =\n    match s with\n    | `Circle r -> Printf.sprintf \"circle %%f\" r\n";
  p "    | `Square (side, name) -> Printf.sprintf \"%%s: %%f %d\" name side\n    | `Empty_%d -> \"empty\"\n\n" i i;
  p "  let weigh ?(factor = %d.5) ~items extra =\n" i;
  p "    let total = List.fold_left (fun sum item -> sum +. (item.weight *. factor)) 0. items in\n";
  p "    if total > 100. then raise (Bad (List.hd items, `Circle total)) else total +. extra\n\n";
  p "  let find table key =\n    let bucket = table.data.(table.hash key mod Array.length table.data) in\n";
  p "    try Some (List.assoc key bucket) with Not_found -> None\n\n";
  p "  class counter start = object (self)\n    val mutable value = start\n    method value = value\n";
  p "    method add n = value <- value + n; self\n    method show = string_of_int self#value\n  end\n\n";
  p "  module type ORDER = sig type t val compare : t -> t -> int val default : t end\n\n";
  p "  module Heap (O : ORDER) = struct\n    type t = O.t tree\n    let empty : t = Leaf\n";
  p "    let add x (heap : t) : t = insert O.compare x heap\n";
  p "    let to_list (heap : t) = List.rev (fold (fun l x -> x :: l) [] heap)\n  end\n\n";
  p "  module Numbers = Heap (struct type t = int let compare = compare let default = %d end)\n" i;
  p "  module Words = Heap (struct type t = string let compare = String.compare let default = \"%d\" end)\n\n" i;
  p "  let lazily = lazy (Numbers.to_list (List.fold_left (fun h n -> Numbers.add n h) Numbers.empty [ %d; 2; 3 ]))\n\n" i;
  p "  let process ?(loud = false) items =\n";
  p "    let names = List.map (fun { name; count; _ } -> (name, count * %d)) items in\n" i;
  p "    let sorted = List.sort (fun (_, a) (_, b) -> compare b a) names in\n";
  p "    let c = new counter (List.length sorted) in\n";
  p "    let rec go n = function\n      | [] -> c#show\n";
  p "      | (name, count) :: rest when loud -> print_endline name; ignore (c#add count); go (n + 1) rest\n";
  p "      | (_, count) :: rest -> ignore (c#add (count mod (n + 1))); go (n + 1) rest\n    in\n";
  p "    (go 0 sorted, Lazy.force lazily, Words.(to_list (add \"x\" empty)))\n";
  if i > 0 then begin
    p "\n  let earlier = M%d.process ~loud:true [ { M%d.name = \"a\"; count = %d; parts = []; weight = 1. } ]\n" (i - 1) (i - 1) i;
    p "  let both = (eval (Pair (Int %d, Text \"t\")), M%d.eval (M%d.Int 1), earlier)\n" i (i - 1) (i - 1)
  end;
  p "end\n\n"

let source bytes =
  let buffer = Buffer.create bytes in
  let rec more i =
    if Buffer.length buffer < bytes then begin
      one buffer i;
      more (i + 1)
    end
  in
  more 0;
  Buffer.contents buffer

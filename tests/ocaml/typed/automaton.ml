(* automaton RATE OFFSET: builds a deterministic automaton from regular expressions, as ocamllex does, with
   all of its data on the stack, and stops in the middle.  Heapgraph.sample notes where what is
   allocated; RATE 0: it does not.  OFFSET blocks are allocated first: other ones are sampled then. *)
external wait : unit -> unit = "truth_wait"

module Positions = Set.Make (Int)

type charset = (char * char) list

type regexp =
  | Nothing
  | Characters of charset
  | Sequence of regexp * regexp
  | Either of regexp * regexp
  | Repeat of regexp
  | Bind of regexp * string

type leaf = { number : int; set : charset; rule : int }
type mark = { rule_number : int; name : string; at_start : bool }

(* The expression with its leaves numbered. *)
type tree =
  | Epsilon
  | Leaf of leaf
  | End of { number : int; action : action }
  | Both of { first : tree; second : tree; nullable : bool }
  | Choice of tree * tree
  | Loop of tree
  | Marked of mark * tree

and action = { text : string; priority : int; location : int * int }

type target = Stop | Go of { state : int; writes : (int * string) list }

type state = {
  index : int;
  positions : Positions.t;
  moves : target array;
  accepts : action option;
  mutable visits : int;
}

type work = {
  leaves : (int, leaf) Hashtbl.t;
  ends : (int, action) Hashtbl.t;
  follow : Positions.t array;
  known : (int list, int) Hashtbl.t;
  todo : (int * Positions.t) Queue.t;
  mutable states : state list;
  mutable next : int;
}

let rec power r n = if n = 0 then Nothing else Sequence (r, power (Either (r, Nothing)) (n - 1))
let word s = Seq.fold_left (fun r c -> Sequence (r, Characters [ (c, c) ])) Nothing (String.to_seq s)

let rules count =
  let letter = Characters [ ('a', 'z'); ('A', 'Z'); ('_', '_') ] and digit = Characters [ ('0', '9') ] in
  let rule i =
    let keyword = word (Printf.sprintf "key%dword%d" (i * 7919 mod 1000) i) in
    let number = Sequence (power digit (1 + (i mod 15)), Sequence (Characters [ ('.', '.') ], Repeat digit)) in
    let named = Bind (Sequence (letter, Repeat (Either (letter, digit))), Printf.sprintf "name%d" i) in
    let body =
      match i mod 3 with
      | 0 -> keyword
      | 1 -> Sequence (word (Printf.sprintf "n%d" i), number)
      | _ -> Sequence (word (Printf.sprintf "%c%d" (Char.chr (97 + (i mod 26))) i), named)
    in
    (body, { text = Printf.sprintf "action %d" i; priority = i; location = (i, i * 80) })
  in
  let rec all i = if i = count then [] else rule i :: all (i + 1) in
  all 0

let rec nullable = function
  | Epsilon -> true
  | Leaf _ | End _ -> false
  | Both { nullable; _ } -> nullable
  | Choice (a, b) -> nullable a || nullable b
  | Loop _ -> true
  | Marked (_, t) -> nullable t

let number_leaves rules leaves ends =
  let next = ref 0 in
  let fresh () = incr next; !next - 1 in
  let rec convert rule = function
    | Nothing -> Epsilon
    | Characters set ->
      let leaf = { number = fresh (); set; rule } in
      Hashtbl.replace leaves leaf.number leaf;
      Leaf leaf
    | Sequence (a, b) ->
      let first = convert rule a in
      let second = convert rule b in
      Both { first; second; nullable = nullable first && nullable second }
    | Either (a, b) ->
      let a = convert rule a in
      Choice (a, convert rule b)
    | Repeat r -> Loop (convert rule r)
    | Bind (r, name) -> Marked ({ rule_number = rule; name; at_start = true }, convert rule r)
  in
  let convert_rule (r, action) =
    let first = convert action.priority r in
    let number = fresh () in
    Hashtbl.replace ends number action;
    Both { first; second = End { number; action }; nullable = false }
  in
  let trees = List.fold_left (fun trees rule -> convert_rule rule :: trees) [] rules in
  (trees, !next)

let rec first = function
  | Epsilon -> Positions.empty
  | Leaf { number; _ } | End { number; _ } -> Positions.singleton number
  | Both { first = a; second = b; _ } -> if nullable a then Positions.union (first a) (first b) else first a
  | Choice (a, b) -> Positions.union (first a) (first b)
  | Loop t | Marked (_, t) -> first t

let rec last = function
  | Epsilon -> Positions.empty
  | Leaf { number; _ } | End { number; _ } -> Positions.singleton number
  | Both { first = a; second = b; _ } -> if nullable b then Positions.union (last a) (last b) else last b
  | Choice (a, b) -> Positions.union (last a) (last b)
  | Loop t | Marked (_, t) -> last t

let followers trees size =
  let follow = Array.make size Positions.empty in
  let link from into = Positions.iter (fun p -> follow.(p) <- Positions.union follow.(p) into) from in
  let rec visit = function
    | Epsilon | Leaf _ | End _ -> ()
    | Both { first = a; second = b; _ } -> visit a; visit b; link (last a) (first b)
    | Choice (a, b) -> visit a; visit b
    | Loop t -> visit t; link (last t) (first t)
    | Marked (_, t) -> visit t
  in
  List.iter visit trees;
  follow

let number_of work positions =
  let key = Positions.elements positions in
  match Hashtbl.find_opt work.known key with
  | Some n -> n
  | None ->
    let n = work.next in
    work.next <- n + 1;
    Hashtbl.replace work.known key n;
    Queue.add (n, positions) work.todo;
    n

let accepts work positions =
  Positions.fold
    (fun p found ->
      match (Hashtbl.find_opt work.ends p, found) with
      | Some action, Some other when action.priority > other.priority -> found
      | Some action, _ -> Some action
      | None, _ -> found)
    positions None

let build_state work index positions =
  let reached = Array.make 128 Positions.empty in
  let reach p =
    match Hashtbl.find_opt work.leaves p with
    | None -> ()
    | Some { set; number; _ } ->
      List.iter
        (fun (low, high) ->
          for c = Char.code low to Char.code high do
            reached.(c) <- Positions.union reached.(c) work.follow.(number)
          done)
        set
  in
  Positions.iter reach positions;
  let move c into =
    if Positions.is_empty into then Stop
    else Go { state = number_of work into; writes = (if c mod 2 = 0 then [ (c, String.make 3 (Char.chr c)) ] else []) }
  in
  { index; positions; moves = Array.mapi move reached; accepts = accepts work positions; visits = 0 }

let determine work enough stop =
  while not (Queue.is_empty work.todo) do
    let index, positions = Queue.pop work.todo in
    work.states <- build_state work index positions :: work.states;
    if index = enough then stop ()
  done

let run stop =
  let rules = rules 1000 in
  let leaves = Hashtbl.create 64 and ends = Hashtbl.create 64 in
  let trees, size = number_leaves rules leaves ends in
  let follow = followers trees size in
  let work =
    { leaves; ends; follow; known = Hashtbl.create 64; todo = Queue.create (); states = []; next = 0 }
  in
  let start = List.fold_left (fun set tree -> Positions.union set (first tree)) Positions.empty trees in
  ignore (number_of work start);
  determine work 4000 stop;
  (* All of it is alive until here. *)
  List.length rules + List.length trees + Array.length follow + List.length work.states

let () =
  let rate = float_of_string Sys.argv.(1) in
  (if rate > 0. then
     match Heapgraph.sample ~rate () with
     | Ok () -> ()
     | Error why -> failwith why);
  ignore (Sys.opaque_identity (List.init (int_of_string Sys.argv.(2)) string_of_int));
  let stop () =
    Gc.full_major ();
    print_endline "READY";
    wait ()
  in
  Printf.printf "%d\n" (run stop)

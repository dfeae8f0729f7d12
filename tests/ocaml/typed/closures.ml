(* Closures and what they capture, partial applications, lazy values, sequences.  What is captured is
   known to the test through a root of C only. *)
open Truth

let times n make = List.init n make
let text i = "text " ^ string_of_int i

let keep ty value =
  known ty value;
  value

type entry = { mutable level : int; lines : string list }

let entry_t = typ "Closures.entry" (fun { level; lines } -> [ level @: int; lines @: list string ])
let entry i = { level = i; lines = times 2 text }

(* Captures of different shapes. *)

let make_counter start =
  let state = keep (reference int) (ref start) in
  fun () -> incr state; !state

let make_logger i =
  let prefix = keep string (text i) and log = keep entry_t (entry i) in
  fun line -> log.level <- String.length (prefix ^ line) + List.length log.lines

let make_mixer i =
  let scale = keep float (float_of_int i) in
  let offsets = keep (array int) (Array.make 3 i) in
  let big = keep int64 (Int64.of_int i) in
  let named = keep (pair string (list int)) (text i, times 3 Fun.id) in
  fun x ->
    scale *. x +. float_of_int (Array.fold_left ( + ) 0 offsets)
    +. Int64.to_float big +. float_of_int (String.length (fst named))

let make_of_function i =
  let inner = keep (string --> int) (fun s -> String.length s + i) in
  fun l -> List.fold_left (fun n s -> n + inner s) 0 l

let make_memo () =
  let memory = keep (hashtbl int string) (Hashtbl.create 8) in
  let f n =
    match Hashtbl.find_opt memory n with
    | Some s -> s
    | None ->
      let s = text n in
      Hashtbl.add memory n s;
      s
  in
  for n = 1 to 12 do ignore (f n) done;
  f

let counters = times 20 make_counter
let loggers = times 20 make_logger
let mixers = times 20 make_mixer
let of_functions = times 10 make_of_function
let memos = Array.init 5 (fun _ -> make_memo ())

(* Mutually recursive ones share a block. *)

let make_parity i =
  let limit = keep (list string) (times (i + 2) text) in
  let rec even n = n = 0 || (n < 100 && odd (n - 1)) || List.length limit > 1000
  and odd n = n <> 0 && even (n - 1) in
  if i mod 2 = 0 then even else odd

let parities = times 10 make_parity

let make_walker i =
  let names = keep (array string) (Array.init (i + 1) text) in
  let rec forward n = if n >= Array.length names then [] else names.(n) :: backward n names.(n)
  and backward n _ = forward (n + 1) in
  forward

let walkers = times 8 make_walker

(* Partial applications: of a known function, of one that is not known, of an argument. *)

let weigh (name : string) (parts : int list) (factor : float) =
  factor *. float_of_int (String.length name + List.length parts)

let unknown f = Sys.opaque_identity f
let partial_of_two = times 10 (fun i -> weigh (keep string (text i)) (keep (list int) (times 2 Fun.id)))
let partial_of_one = times 10 (fun i -> (unknown weigh) (keep string (text i)))
let partial_twice = times 10 (fun i -> ((unknown weigh) (keep string (text i))) (keep (list int) [ i; i ]))
let labelled_one ~name ?(loud = false) n = if loud then String.uppercase_ascii name else name ^ string_of_int n
let partial_labelled = times 6 (fun i -> labelled_one ~name:(keep string (text i)) ~loud:(i mod 2 = 0))

(* Polymorphic makers. *)

let constantly x = fun () -> x
let swap f = fun x y -> f y x
let compose f g = fun x -> g (f x)
let constants = times 10 (fun i -> constantly (keep (pair int string) (i, text i)))
let composed = times 5 (fun i -> compose (fun s -> s ^ text i) (fun s -> String.length s + i))
let swapped = times 5 (fun i -> swap (fun (a : string) (b : int) -> String.length a + b + i))

(* What polymorphic makers have captured is of the types that their closures are functions of. *)

type key = { path : string list; depth : int }
type plan = { steps : string list; cost : int }
type signal = [ `On of string list | `Off ]
type 'a pair_of = 'a * 'a

let key_t = typ "Closures.key" (fun { path; depth } -> [ path @: list string; depth @: int ])
let plan_t = typ "Closures.plan" (fun { steps; cost } -> [ steps @: list string; cost @: int ])
let signal_t = typ "Closures.signal" (function `Off -> [] | `On l -> [ 1 @: int; l @: list string ])
let key i = { path = [ text i ]; depth = i }
let plan i = { steps = times 2 text; cost = i }

(* A table beside the function that fills it. *)
let memoise ty f =
  let table = keep ty (Hashtbl.create 8) in
  fun k ->
    match Hashtbl.find_opt table k with
    | Some v -> v
    | None ->
      let v = f k in
      Hashtbl.add table k v;
      v

let filled f = List.iter (fun k -> ignore (f k)) (times 5 key); f
let plans = times 3 (fun _ -> filled (memoise (hashtbl key_t plan_t) (fun k -> plan k.depth)))
let costs = times 2 (fun _ -> filled (memoise (hashtbl key_t int) (fun k -> k.depth)))

(* Labels, an argument that may be left out, several parameters. *)
let recorder ty first =
  let log = keep ty (ref [ first ]) in
  fun ?limit ~key value ->
    if limit <> Some 0 then log := (key, value) :: !log;
    List.length !log

type recorder = { record : ?limit:int -> key:key -> plan -> int }

let recorder_t =
  typ "Closures.recorder" (fun { record } ->
      [ record @: opaque "?limit:int -> key:Closures.key -> Closures.plan -> int" ])

let recorders =
  times 3 (fun i -> { record = recorder (reference (list (pair key_t plan_t))) (key i, plan i) })

(* Types with a name, and ones that stand for others. *)
let queue_of ty x =
  let waiting = keep ty (ref [ x; x ]) in
  fun y -> waiting := y :: !waiting

let signals : (signal -> unit) list = times 3 (fun i -> queue_of (reference (list signal_t)) (`On [ text i ]))

let pairs : (key pair_of -> unit) list =
  times 3 (fun i -> queue_of (reference (list (pair key_t key_t))) (key i, key i))

(* Partial applications of polymorphic functions. *)
let put table name value = Hashtbl.replace table (name : key) value
let put_into i =
  let table = Hashtbl.create 8 in
  Hashtbl.add table (key i) (plan i);
  keep (hashtbl key_t plan_t) table

let putters : (key -> plan -> unit) list = times 3 (fun i -> put (put_into i))
let unknown_putters : (key -> plan -> unit) list = times 3 (fun i -> (unknown put) (put_into i))
let second l1 l2 x = List.length l1 + List.length l2 + List.length (List.filter (( = ) x) (l1 @ l2))
let seconds : (key -> int) list =
  times 3 (fun i ->
      unknown (unknown second (keep (list key_t) (times 2 key))) (keep (list key_t) (times i key)))

(* A closure in a closure in a closure, of which only the outermost one's type is known. *)
let remember ty x =
  let last = keep ty (ref x) in
  fun f ->
    fun y -> last := y; f y

let rec layers n f = if n = 0 then f else layers (n - 1) (remember (reference key_t) (key n) f)
let layered : (key -> plan) list = times 2 (fun _ -> layers 4 (fun k -> plan k.depth))

(* A function that is itself polymorphic tells nothing of another one's variables. *)
type any = { any : 'b. 'b -> 'b list }

let wrapper x =
  let inside = ref [ x ] in
  { any = (fun y -> ignore (List.length !inside); [ y ]) }

let wrappers = times 3 (fun i -> wrapper (text i))
let uses = List.map (fun w -> (w.any 1, w.any "")) wrappers

(* In a functor's body: its parameter is captured too. *)

module type SIZED = sig
  type t

  val size : t -> int
end

module Watch (S : SIZED) = struct
  let over limit ty =
    let limit = keep ty limit in
    fun x -> S.size x > S.size limit
end

module Watch_strings = Watch (String_size)
module Watch_lists = Watch (struct
  type t = int list

  let size = List.length
end)

let watches = times 5 (fun i -> Watch_strings.over (text i) string)
let list_watches = times 5 (fun i -> Watch_lists.over (times i Fun.id) (list int))

(* Continuations in passing style, with closures within closures. *)

let rec sum_of l k = match l with [] -> k 0 | x :: rest -> sum_of rest (fun n -> k (n + x))

let suspended : ((int -> int) list) ref = ref []
let () = for i = 1 to 10 do sum_of (times 3 Fun.id) (fun n -> suspended := (fun m -> n + m + i) :: !suspended) done

(* Lazy values. *)

type 'a flow = Flow of 'a * 'a flow lazy_t

let rec flow_t : 'a. 'a ty -> 'a flow ty =
 fun a -> typ1 "Closures.flow" a (fun (Flow (x, rest)) -> [ x @: a; rest @: lazy_t (flow_t a) ])

let rec flow n = Flow (text n, lazy (flow (n + 1)))
let flow_start = flow 1

let rec force n (Flow (_, rest)) = if n > 0 then force (n - 1) (Lazy.force rest)
let () = force 30 flow_start

let unforced =
  times 10 (fun i ->
      let words = keep (list string) (times i text) in
      lazy (List.length words))

let forced =
  times 20 (fun i ->
      let delayed = lazy (text i, i) in
      if i mod 2 = 0 then ignore (Lazy.force delayed);
      delayed)

let forced_floats =
  times 10 (fun i ->
      let delayed = lazy (float_of_int i *. 1.5) in
      ignore (Lazy.force delayed);
      delayed)

let forced_strings = Array.init 10 (fun i -> let d = lazy (text i) in ignore (Lazy.force d); d)
let from_values = times 5 (fun i -> Lazy.from_val (times 2 (fun k -> text (i + k))))

(* Sequences: a function of which a node holds the next. *)

let rec from n () = Seq.Cons (text n, from (n + 1))
let sequences = times 10 from
let of_lists = times 5 (fun i -> List.to_seq (times (i + 1) text))

type 'a kept = { node : 'a Seq.node; again : 'a Seq.t }

let kept = times 10 (fun i -> let s = from i in { node = s (); again = s })

let kept_t =
  typ1 "Closures.kept" string (fun { node; again } ->
      [
        node
        @: typ1 "Seq.node" string (function
             | Seq.Nil -> []
             | Seq.Cons (x, rest) -> [ x @: string; rest @: (unit --> opaque "string Seq.node") ]);
        again @: (unit --> opaque "string Seq.node");
      ])

let () =
  known (list (unit --> int)) counters;
  known (list (string --> unit)) loggers;
  known (list (float --> float)) mixers;
  known (list (list string --> int)) of_functions;
  known (array (int --> string)) memos;
  (* The block is that of both functions. *)
  known (list (int --> bool)) parities;
  known (list (int --> list string)) walkers;
  known (list (float --> float)) partial_of_two;
  known (list (list int --> (float --> float))) partial_of_one;
  known (list (float --> float)) partial_twice;
  known (list (int --> string)) partial_labelled;
  known (list (unit --> pair int string)) constants;
  known (list (string --> int)) composed;
  known (list (int --> (string --> int))) swapped;
  known (list (key_t --> plan_t)) plans;
  known (list (key_t --> int)) costs;
  known (list recorder_t) recorders;
  known (list (signal_t --> unit)) signals;
  known (list (pair key_t key_t --> unit)) pairs;
  known (list (key_t --> (plan_t --> unit))) putters;
  known (list (key_t --> (plan_t --> unit))) unknown_putters;
  known (list (key_t --> int)) seconds;
  known (list (key_t --> plan_t)) layered;
  known (list (opaque "Closures.any")) wrappers;
  known (list (string --> bool)) watches;
  known (list (list int --> bool)) list_watches;
  known (reference (list (int --> int))) suspended;
  known (flow_t string) flow_start;
  known (list (lazy_t int)) unforced;
  known (list (lazy_t (pair string int))) forced;
  known (list (lazy_t float)) forced_floats;
  known (array (lazy_t string)) forced_strings;
  known (list (lazy_t (list string))) from_values;
  known (list (unit --> opaque "string Seq.node")) sequences;
  known (list (unit --> opaque "string Seq.node")) of_lists;
  known (list kept_t) kept;
  report ()

(* A functor's parameter holds a module that has another signature where it is known by the unit's own
   block: each of the functor's functions, which captured the parameter, makes that block two types at
   once.  Beside them is a list that only a captured variable holds, and that has nothing to do with
   it. *)

external wait : unit -> unit = "truth_wait"

module type COUNTER = sig
  type t

  val make : int -> t
  val read : t -> int
end

module type SOURCE = sig
  module Inner : COUNTER

  val factor : int
end

type link = { name : string; next : link option }

module Counter (X : sig val least : int end) = struct
  type t = { value : int; text : string }

  let make x = { value = x + X.least; text = string_of_int x }
  let read y = y.value * X.least
end

module Steps (P : SOURCE) = struct
  let step by x = P.Inner.read (P.Inner.make (x + (by * P.factor)))
  let step0 x = step 0 x + P.factor
  let step1 x = step 1 x + P.factor
  let step2 x = step 2 x + P.factor
  let step3 x = step 3 x + P.factor
  let step4 x = step 4 x + P.factor
  let step5 x = step 5 x + P.factor
  let step6 x = step 6 x + P.factor
  let step7 x = step 7 x + P.factor
  let step8 x = step 8 x + P.factor
  let step9 x = step 9 x + P.factor
  let step10 x = step 10 x + P.factor
  let step11 x = step 11 x + P.factor
  let step12 x = step 12 x + P.factor
  let step13 x = step 13 x + P.factor
  let step14 x = step 14 x + P.factor
  let step15 x = step 15 x + P.factor
  let step16 x = step 16 x + P.factor
  let step17 x = step 17 x + P.factor
  let step18 x = step 18 x + P.factor
  let step19 x = step 19 x + P.factor
end

let hidden : (unit -> int) list ref = ref []

let rec build i = if i = 0 then None else Some { name = string_of_int i; next = build (i - 1) }

let keep length =
  let links = build length in
  let first () = match links with None -> 0 | Some link -> String.length link.name in
  hidden := first :: !hidden

module Known = Counter (struct let least = Array.length Sys.argv end)

let run factor =
  let module Source = struct
    module Inner = Known

    let factor = factor
  end in
  let module All = Steps (Source) in
  hidden := (fun () -> All.step0 1 + All.step19 2) :: !hidden

let () =
  run (Array.length Sys.argv);
  keep 1000;
  Gc.compact ();
  print_endline "READY";
  wait ();
  print_int (List.fold_left (fun sum f -> sum + f ()) 0 !hidden)

(* fibers SIZE (OCaml 5): suspended continuations of one and of several stacks, domains that wait
   with something on their stacks, what a finished domain leaves, domain-local storage. *)

open Effect
open Effect.Deep

type _ Effect.t += Ask : int -> string Effect.t
type _ Effect.t += Through : string -> int Effect.t

let size = int_of_string Sys.argv.(1)
let asking : (string, int) continuation list ref = ref []
let crossing : (int, string) continuation list ref = ref []

(* Each level keeps a string of its own on the stack; the bottom one suspends all of them. *)
let rec descend depth =
  if depth = 0 then String.length (perform (Ask depth))
  else
    let text = string_of_int (depth * 1000) in
    let below = descend (depth - 1) in
    below + String.length text

let suspend depth =
  match_with descend depth
    {
      retc = Fun.id;
      exnc = raise;
      effc =
        (fun (type a) (e : a Effect.t) ->
          match e with
          | Ask n ->
            Some (fun (k : (a, int) continuation) -> asking := k :: !asking; n)
          | _ -> None);
    }

(* An effect that the inner handler does not take: the continuation has two stacks. *)
let suspend_two i =
  let inner () =
    let held = List.init 10 (fun k -> (i, k)) in
    let answer = perform (Through (string_of_int i)) in
    answer + List.length held
  in
  let outer () =
    let name = Printf.sprintf "fiber %d" i in
    let n = match_with inner () { retc = Fun.id; exnc = raise; effc = (fun (type a) (_ : a Effect.t) -> None) } in
    name ^ string_of_int n
  in
  match_with outer ()
    {
      retc = Fun.id;
      exnc = raise;
      effc =
        (fun (type a) (e : a Effect.t) ->
          match e with
          | Through text ->
            Some (fun (k : (a, string) continuation) -> crossing := k :: !crossing; text)
          | _ -> None);
    }

let resume_some () =
  match !asking with
  | k :: rest -> asking := rest; ignore (continue k "answer")
  | [] -> ()

let local_key = Domain.DLS.new_key (fun () -> ref [])
let waiting = Atomic.make 0
let never = Mutex.create ()

let domain i () =
  Domain.DLS.get local_key := List.init 200 (fun k -> (i, string_of_int k));
  let held = Array.init 300 string_of_int in
  (* On a fiber, not on the stack that the domain began with. *)
  match_with
    (fun () ->
      let deeper = List.init 50 (fun k -> float_of_int (i + k)) in
      Atomic.incr waiting;
      Mutex.lock never;
      List.length deeper + Array.length held)
    ()
    { retc = Fun.id; exnc = raise; effc = (fun (type a) (_ : a Effect.t) -> None) }

(* Small blocks and large ones, in pools that no domain owns any more. *)
let orphans () =
  let finished =
    Domain.spawn (fun () ->
        (List.init size (fun i -> (i, string_of_int i)), Array.init 5 (fun i -> Array.make (1000 + i) i)))
  in
  Domain.join finished

let () =
  let left = orphans () in
  Mutex.lock never;
  let domains = List.init 3 (fun i -> Domain.spawn (domain i)) in
  while Atomic.get waiting < 3 do
    Unix.sleepf 0.01
  done;
  Domain.DLS.get local_key := [ (-1, "main") ];
  for i = 1 to size / 20 do
    ignore (suspend (i mod 50));
    if i mod 4 = 0 then resume_some ();
    if i mod 2 = 0 then ignore (suspend_two i)
  done;
  Report.ready
    [ ("left", Obj.repr left); ("asking", Obj.repr !asking); ("crossing", Obj.repr !crossing) ];
  Report.wait ();
  ignore (Sys.opaque_identity (left, domains))

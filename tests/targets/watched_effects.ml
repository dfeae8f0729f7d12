(* watched_effects FILE (OCaml 5): many fibers by turns, each of which adds up numbers in its own
   frames. *)
open Watched_work
open Effect
open Effect.Deep

type _ Effect.t += Next : int -> int Effect.t

let fibers = 200
let turns = 20
let add factor = let sum = ref 0 in for i = 1 to 100 do sum := !sum + (i * factor) done; !sum

let rec work id left a b c d =
  if left = 0 then a + b + c + d
  else
    let factor = perform (Next id) in
    work id (left - 1) (a + add factor) (b lxor factor) (c + id) (d + 1)

(* The same without fibers; turns are even in number, so what is combined by lxor vanishes. *)
let expected id = 1 + (turns * 5050 * id * 7) + 2 + 3 + (turns * id) + 4 + turns

let waiting : (unit -> unit) Queue.t = Queue.create ()
let right = ref 0

let spawn id =
  match_with
    (fun () -> work id turns 1 2 3 4)
    ()
    {
      retc = (fun sum -> if sum = expected id then incr right);
      exnc = raise;
      effc =
        (fun (type a) (request : a Effect.t) ->
          match request with
          | Next id ->
            Some
              (fun (fiber : (a, unit) continuation) ->
                Queue.push (fun () -> continue fiber (id * 7)) waiting)
          | _ -> None);
    }

let all () =
  right := 0;
  for id = 1 to fibers do spawn id done;
  while not (Queue.is_empty waiting) do (Queue.pop waiting) () done;
  !right = fibers

let () =
  open_record Sys.argv.(1) 1;
  Atomic.set to_begin 1;
  repeat 0 all;
  result ()

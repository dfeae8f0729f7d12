(* OCaml 5: suspended continuations, what hangs on their stacks, and what domains keep. *)
open Truth
open Effect
open Effect.Deep

let times n make = List.init n make
let text i = "text " ^ string_of_int i

type _ Effect.t += Ask : string -> int Effect.t
type _ Effect.t += Give : 'a list -> unit Effect.t

type task = { name : string; mutable waiting : (int, string) continuation option; log : string list ref }

let continuation_t a b = typ2 "Effect.Deep.continuation" a b (fun _ -> [])

let task_t =
  typ "Effects.task" (fun { name; waiting; log } ->
      [ name @: string; waiting @: option (continuation_t int string); log @: reference (list string) ])

let tasks : (string, task) Hashtbl.t = Hashtbl.create 10

(* What only the stack of a fiber holds. *)
let run name =
  let task = { name; waiting = None; log = ref [] } in
  Hashtbl.replace tasks name task;
  match_with
    (fun () ->
      let mine = times 3 (fun i -> (i, text i)) in
      known (list (pair int string)) mine;
      task.log := text 1 :: !(task.log);
      let answer = perform (Ask name) in
      task.log := text answer :: !(task.log);
      name ^ string_of_int (List.length mine))
    ()
    {
      retc = Fun.id;
      exnc = raise;
      effc =
        (fun (type a) (e : a Effect.t) ->
          match e with
          | Ask _ -> Some (fun (k : (a, string) continuation) -> task.waiting <- Some k; "asked")
          | _ -> None);
    }

let answers = times 40 (fun i -> run (text i))

let resume name n =
  match Hashtbl.find_opt tasks name with
  | Some ({ waiting = Some k; _ } as task) ->
    task.waiting <- None;
    ignore (continue k n)
  | _ -> ()

let () = for i = 1 to 10 do resume (text i) i done
let key = Domain.DLS.new_key (fun () -> ref [])
let () = Domain.DLS.get key := times 10 text
let from_domain = Domain.join (Domain.spawn (fun () -> times 50 (fun i -> (text i, Some i))))
let effects : exn list = times 3 (fun i -> if i = 0 then Unhandled (Ask (text 1)) else Continuation_already_resumed)

let () =
  known (hashtbl string task_t) tasks;
  known (list string) answers;
  known (reference (list string)) (Domain.DLS.get key);
  known (list (pair string (option int))) from_domain;
  known (list (exn (fun _ -> []))) effects;
  report ()

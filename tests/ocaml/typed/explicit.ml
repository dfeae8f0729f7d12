(* OCaml 5.5: functions whose result's type names the module that they are given, arguments that are
   polymorphic, lazy values with a lock. *)
open Truth

let times n make = List.init n make
let text i = "text " ^ string_of_int i

module type KEY = sig
  type t

  val make : int -> t
end

module Id = struct
  type t = { number : int; tag : string }

  let make number = { number; tag = text number }
end

module Word = struct
  type t = string

  let make = text
end

type 'a box = { content : 'a; label : string }

let make (module Key : KEY) (n : int) : Key.t = Key.make n
let list_of (module Key : KEY) n : Key.t list = times n Key.make
let boxed (module Key : KEY) (n : int) : Key.t box = { content = Key.make n; label = text n }

let both (take : 'a. 'a box -> 'a) i =
  (take { content = i; label = "int" }, take { content = text i; label = "string" })

let ids = times 40 (fun i -> make (module Id) i)
let words = list_of (module Word) 30
let boxes = times 20 (fun i -> boxed (module Id) i)
let pairs = times 25 (fun i -> both (fun box -> box.content) i)
let locked = times 10 (fun i -> Lazy.Mutexed.from_fun (fun () -> text i))
let id_t = typ "Explicit.Id.t" (fun { Id.number; tag } -> [ number @: int; tag @: string ])
let box_t a = typ1 "Explicit.box" a (fun { content; label } -> [ content @: a; label @: string ])

let () =
  List.iteri (fun i l -> if i mod 2 = 0 then ignore (Lazy.Mutexed.force l)) locked;
  known (list id_t) ids;
  known (list string) words;
  known (list (box_t id_t)) boxes;
  known (list (pair int string)) pairs;
  known (list (typ1 "Lazy.Mutexed.state Atomic.t" string (fun _ -> []))) locked;
  report ()

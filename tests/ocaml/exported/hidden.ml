(* Abstract types whose values are those of another type of the unit: what heapgraph-prof says of them
   is in hidden.expected. *)

module Inside = struct
  type 'a promise = { mutable state : 'a state; name : string }
  and 'a state = Done of 'a | Waiting of ('a -> unit) list
end

open Inside

(* One type seen as two, one of them through Obj.magic: both are promises. *)
module Outside = struct
  type +'a t
  type -'a resolver

  let promise : 'a promise -> 'a t = Obj.magic

  external resolver : 'a promise -> 'a resolver = "%identity"
  external of_resolver : 'a resolver -> 'a promise = "%identity"
end

include Outside

(* What is told of these does not say how they look. *)
module Unclear = struct
  type several
  type number
  type universal
  type 'a narrow

  external of_promise : string promise -> several = "%identity"
  external of_state : string state -> several = "%identity"
  external of_int : int -> number = "%identity"
  external of_any : 'a -> universal = "%identity"
  external known : string promise -> universal = "%identity"
  external of_strings : string promise -> string narrow = "%identity"
end

let make name = { state = Waiting []; name }
let promises : string t list = [ promise (make "p") ]
let resolvers : string resolver list = [ resolver (make "r") ]
let several : Unclear.several = Unclear.of_promise (make "s")
let universal : Unclear.universal = Unclear.of_any 1
let number : Unclear.number = Unclear.of_int 1
let narrow : string Unclear.narrow = Unclear.of_strings (make "n")

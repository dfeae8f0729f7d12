(* One of each kind of declaration: what heapgraph-prof says of them is in kinds.expected. *)
type 'a inline = Empty | Full of { key : string; mutable value : 'a } | Both of int * 'a

type _ expr =
  | Int : int -> int expr
  | Pair : 'a expr * 'b expr -> ('a * 'b) expr
  | Exists : 'a * ('a -> string) -> string expr

type point = { x : float; y : float }
type mixed = { mutable at : point; label : string option }
type boxed_once = Once of string [@@unboxed]
type number = { number : int } [@@unboxed]
type 'a alias = ('a * string) list
type 'a phantom = string
type 'a constrained = { part : 'b } constraint 'a = 'b list
type extensible = ..
type extensible += Plain | Argument of string | Record of { field : int list }

exception Wrong of string * int

module type ORDERED = sig
  type t

  val compare : t -> t -> int
end

module Make (X : ORDERED) = struct
  type elt = X.t
  type t = Leaf | Node of t * elt * t

  exception Found of elt

  let leaf = Leaf
  let single x = Node (Leaf, x, Leaf)
end

module Strings = Make (String)

module Pairs = Make (struct
  type t = int * string

  let compare = compare
end)

module Hidden : sig
  type t
  type immediate [@@immediate]

  val make : string -> t
end = struct
  type t = { secret : string }
  type immediate = int

  let make secret = { secret }
end

module rec Even : sig
  type t = Zero | More of Odd.t
end =
  Even

and Odd : sig
  type t = One of Even.t
end =
  Odd

type tree = [ `Leaf | `Node of tree * int * tree ]
type variants = [ `A of string | `B ]
type more = [ variants | `C of int list ]

let strings = Strings.single "s"
let pairs = Pairs.single (1, "p")
let hidden = Hidden.make "h"
let tree : tree = `Node (`Leaf, 1, `Leaf)
let more : more list = [ `A "a"; `B; `C [ 1 ] ]
let rec endless = `Cons (1, endless)
let even = Even.More (Odd.One Even.Zero)
let alias : int alias = [ (1, "a") ]
let phantom : float phantom = "p"
let constrained : string list constrained = { part = "p" }
let labels ~(here : int) ?(there = "t") () = (here, there)
let packed = (module String : ORDERED)
let value : extensible = Argument "x"
let mixed = { at = { x = 1.; y = 2. }; label = None }
let inline = Full { key = "k"; value = 1 }
let expr = Pair (Int 1, Exists (1, string_of_int))
let unboxed = (Once "once", { number = 1 })

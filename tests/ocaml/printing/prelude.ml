type color = Red | Green | Mix of int * float | Named of { name : string; shade : color option }
type 'a tree = Leaf | Node of 'a tree * 'a * 'a tree
type point = { x : float; y : float }
type person = { first : string; mutable age : int; boss : person option; tags : string list }
type wrapped = Wrapped of string [@@unboxed]
type boxed = { only : int list } [@@unboxed]
type _ term = Int : int -> int term | Pair : 'a term * 'b term -> ('a * 'b) term
type op = ..
type op += Add of int * int | Neg of { of_ : int }
exception Full of string * int list

let rec cyclic = { first = "me"; age = -1; boss = Some cyclic; tags = [] }
let boss = { first = "Ann \"A\" O'Hara"; age = 61; boss = None; tags = [ "\000\001\127"; "tab\tnl\n" ] }

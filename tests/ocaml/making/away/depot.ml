(* A library: what programs keep in it. *)
type 'a t = { mutable all : 'a list }

let create () = { all = [] }
let add depot x = depot.all <- x :: depot.all

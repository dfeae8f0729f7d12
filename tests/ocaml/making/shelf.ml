(* The program's own container of anything. *)
type 'a t = { mutable on : 'a list }

let create () = { on = [] } (* makes Made.item Shelf.t *)
let put shelf x = shelf.on <- x :: shelf.on (* makes Made.item list *)

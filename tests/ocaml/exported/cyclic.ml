(* Types that contain themselves; compiled with -rectypes. *)
type 'a knot = ('a * 'b) list as 'b
type deep = Deep of deep list

let rec list = [ list ]
let rec tuple = (1, tuple)
let rec both = (`Left [ both ], (1, `Right both))
let knot : string knot = [ ("k", [ ("l", []) ]) ]
let rec self x = self
let obj = object (self) method me = self method list = [ self ] end
let nested : [ `A of 'a | `B of ([ `C of 'a | `D of 'b ] as 'b) ] as 'a = `A (`B (`C (`A (Obj.magic 0))))

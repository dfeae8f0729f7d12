(* Where values are defined: each name stands behind "at" at the end of its line. *)
let table : (string, int) Hashtbl.t = Hashtbl.create 16 (* at table *)

let
  pair, (* at pair *)
  other (* at other *)
  = (1, ref "two")

let rec even n = (* at even *)
  n = 0 || odd (n - 1)

and odd n = n <> 0 && even (n - 1) (* at odd *)

exception Trouble of string (* at Trouble *)

type event = ..
type event += Click of int (* at Click *)

module Inner = struct (* at Inner *)
  let hidden = ref 0 (* at hidden *)
end

include struct
  let included = ref [ 1 ] (* at included *)
end

include Outside (* at outside *)

class counter = (* at counter *)
  object
    val mutable n = 0
    method next = n <- n + 1; n
  end

let twice = 1 (* at twice *)
let twice = ref twice (* at twice *)
let ( ++ ) a b = a @ b (* at ++ *)
let unused (* at unused *) = even pair
# 700 "lines.mly"
let directed = ref 'd'

val z : string list

exception Foo

val a : string option
val length : string -> int
val size : string -> int

module Shown : sig
  val y : int
  val x : string
end

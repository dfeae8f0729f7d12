type 'a t
type code = private string
type mark

val none : 'a t
val append : 'a -> 'a t -> 'a t
val code : string -> code
val mark : int -> mark

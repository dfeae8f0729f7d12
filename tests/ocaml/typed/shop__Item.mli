type t
type size = Small | Sized of { width : float; height : float } | Custom of string

module Id : sig
  type t = private int

  val make : int -> t
end

module Table : Hashtbl.S with type key = Id.t

val make : Id.t -> string -> size -> t
val id : t -> Id.t
val ty : t Truth.ty

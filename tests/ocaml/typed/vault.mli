(** Abstract types, and a functor that hides what it makes. *)

type 'a t
type key
type id = private string
type token

val empty : unit -> 'a t
val put : key -> 'a -> 'a t -> 'a t
val key : int -> key
val id : int -> id
val token : int -> token

(** What this module's own code knows of its types. *)

val t_ty : 'a Truth.ty -> 'a t Truth.ty
val key_ty : key Truth.ty
val id_ty : id Truth.ty
val token_ty : token Truth.ty

module type ORDERED = sig
  type t

  val compare : t -> t -> int
end

module Heap (E : ORDERED) : sig
  type t

  val empty : t
  val add : E.t -> t -> t
  val ty : string -> E.t Truth.ty -> t Truth.ty
end

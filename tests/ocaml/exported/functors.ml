(* Functors that are given functors: what they make has the types of the functor that was given,
   though their declarations look alike. *)

module type ELEMENT = sig
  type t
end

module type MADE = sig
  type t
end

module Pairs (X : ELEMENT) = struct
  type t = { first : X.t; second : string }
end

module Lists (X : ELEMENT) = struct
  type t = { all : X.t list; last : X.t }
end

module type MAKE = functor (X : ELEMENT) -> MADE

module User (Make : MAKE) (X : ELEMENT) = struct
  module Made = Make (X)

  type t = { made : Made.t; note : string }
end

module Inside = struct
  module Options (X : ELEMENT) = struct
    type t = Some_of of X.t option | None_of
  end

  module Refs (X : ELEMENT) = struct
    type t = Ref_of of X.t ref | Not_of
  end
end

module Element = struct
  type t = Tag of int64 * Int64.t
end

module With_pairs = User (Pairs) (Element)
module With_lists = User (Lists) (Element)
module With_options = User (Inside.Options) (Element)
module With_refs = User (Inside.Refs) (Element)

module With_own =
  User
    (functor
      (X : ELEMENT)
      ->
      struct
        type t = { own : X.t array }
      end)
    (Element)

let pairs : With_pairs.t list ref = ref []
let lists : With_lists.t list ref = ref []
let options : With_options.t list ref = ref []
let refs : With_refs.t list ref = ref []
let own : With_own.t list ref = ref []

(* The parameter is captured: what is abstract in its signature can be anything, and is no type. *)
module Values (X : sig
  type t

  val all : t list
end) =
struct
  let get () = X.all
end

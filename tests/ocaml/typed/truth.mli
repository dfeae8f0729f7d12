(** What a program knows of the types of its own blocks.

    A ['a ty] describes a type: how [heapgraph] spells it, and what a value of it holds. Its function
    takes the value apart with patterns, so the OCaml type checker has agreed that the parts have
    the types that they are said to have. {!known} remembers a value, {!report} walks from all of
    them and prints a line for each block:

    {v TYPE-TRUTH 0xADDRESS TYPE [or TYPE]... v}

    A block that is met as several types, a structured constant that the compiler shares, has all
    of them in its line. *)

type 'a ty
type part

(** What a value is made of. *)
type view =
  | Parts of part list  (** a block of its own type (or an immediate) that holds these *)
  | Same of part  (** in memory it is that value of another type: a forced lazy *)
  | Unseen  (** nothing is said of it *)

val ( @: ) : 'a -> 'a ty -> part

val known : 'a ty -> 'a -> unit
(** Remembers a value in a root of C, which no type leads to. It stays alive. *)

val forget : unit -> unit
(** Lets go of all values that are known by now: others must keep what is to be seen alive. *)

val later : (unit -> part list) -> unit
(** To be asked by {!report}, which holds nothing of it from then on. *)

val report : unit -> unit
(** Compacts the heap, prints all lines and [READY], and does not return. *)

(** {1 Types of the program's own} *)

val typ : string -> ('a -> part list) -> 'a ty
(** A type constructor without parameters, by its path. *)

val typ_view : string -> ('a -> view) -> 'a ty
val typ1 : string -> 'a ty -> ('b -> part list) -> 'b ty
val typ2 : string -> 'a ty -> 'b ty -> ('c -> part list) -> 'c ty
val unboxed : 'a ty -> ('b -> 'a) -> 'b ty -> 'b ty
(** Blocks of the second type look like those of the first. *)

val hidden : 'a ty
(** [_]: neither looked at nor told. *)

val opaque : string -> 'a ty
(** A block of this type whose inside is not looked at. *)

val name : 'a ty -> string

(** {1 Predefined types and those of the standard library} *)

val int : int ty
val bool : bool ty
val char : char ty
val unit : unit ty
val string : string ty
val bytes : bytes ty
val float : float ty
val int32 : int32 ty
val int64 : int64 ty
val nativeint : nativeint ty
val exn : (exn -> part list) -> exn ty
val list : 'a ty -> 'a list ty
val option : 'a ty -> 'a option ty
val array : 'a ty -> 'a array ty
val reference : 'a ty -> 'a ref ty
val lazy_t : 'a ty -> 'a Lazy.t ty
val result : 'a ty -> 'b ty -> ('a, 'b) result ty
val either : 'a ty -> 'b ty -> ('a, 'b) Either.t ty
val pair : 'a ty -> 'b ty -> ('a * 'b) ty
val triple : 'a ty -> 'b ty -> 'c ty -> ('a * 'b * 'c) ty
val quadruple : 'a ty -> 'b ty -> 'c ty -> 'd ty -> ('a * 'b * 'c * 'd) ty
val labelled_tuple : (string * string) list -> ('a -> part list) -> 'a ty
(** Labels, [""] for none, and how the parts are spelled. *)

val ( --> ) : 'a ty -> 'b ty -> ('a -> 'b) ty
val labelled : string -> 'a ty -> 'b ty -> 'c ty
(** [label:'a -> 'b]; ["?label"] for an optional one. *)

val variant : (string * string option) list -> ('a -> part list) -> 'a ty
(** A polymorphic variant: its tags and how their arguments are spelled. *)

val obj : (string * string) list -> 'a ty
(** An object of no class: its methods and how their types are spelled. *)

val floatarray : floatarray ty
val hashtbl : 'a ty -> 'b ty -> ('a, 'b) Hashtbl.t ty
val hashtbl_as : 'a ty -> 'b ty -> 'c ty
(** What [Hashtbl.Make] makes is a [Hashtbl.t] of these keys and data. *)

val map_as : string -> 'key ty -> 'data ty -> 'map ty
(** What [Map.Make] makes, by the path of its type. *)

val set_as : string -> 'element ty -> 'set ty
val queue : 'a ty -> 'a Queue.t ty
val stack : 'a ty -> 'a Stack.t ty
val buffer : Buffer.t ty

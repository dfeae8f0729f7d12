module type PIECE = sig
  type t

  val label : t -> string
end

module type YARD = sig
  type piece
  type t

  exception Refused of piece

  val of_list : piece list -> t
  val refused : piece -> exn
end

module Make (P : PIECE) : YARD with type piece = P.t = struct
  type piece = P.t
  type t = { pieces : piece array; labels : string list; best : piece option }

  exception Refused of piece

  let of_list l =
    {
      pieces = Array.of_list l;
      labels = List.map P.label l;
      best = (match l with [] -> None | piece :: _ -> Some piece);
    }

  let refused piece = Refused piece
end

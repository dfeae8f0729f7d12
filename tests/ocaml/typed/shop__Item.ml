open Truth

module Id = struct
  type t = int

  let make n = n
  let equal = Int.equal
  let hash n = n
end

module Table = Hashtbl.Make (Id)

type size = Small | Sized of { width : float; height : float } | Custom of string
type t = { id : Id.t; name : string; size : size; mutable tags : string list }

let make id name size = { id; name; size; tags = [ name ^ "!" ] }
let id t = t.id

let size_ty =
  typ "Shop.Item.size" (function
    | Small -> []
    | Sized { width; height } -> [ width @: float; height @: float ]
    | Custom s -> [ s @: string ])

let ty =
  typ "Shop.Item.t" (fun { name; size; tags; _ } -> [ name @: string; size @: size_ty; tags @: list string ])

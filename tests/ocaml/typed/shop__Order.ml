open Truth

type line = { item : Item.t; amount : int }

module Map = Map.Make (struct
  type t = string * Item.Id.t

  let compare = compare
end)

type t = { customer : string; lines : line list; notes : string Map.t; mutable paid : float option }
type book = t Item.Table.t

let map_path = "Shop.Order.Map.t"
let line_ty = typ "Shop.Order.line" (fun { item; amount } -> [ item @: Item.ty; amount @: int ])

let ty =
  typ "Shop.Order.t" (fun { customer; lines; notes; paid } ->
      [
        customer @: string; lines @: list line_ty; notes @: map_as map_path (pair string int) string;
        paid @: option float;
      ])

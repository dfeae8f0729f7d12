(* A program and a library that dune would build: wrapped modules, with an interface and without. *)
open Truth
open Shop

type shelf = { items : Item.t array; price : Prices.price option; above : shelf option }

let text i = "text " ^ string_of_int i

let item i =
  let size : Item.size =
    match i mod 3 with
    | 0 -> Small
    | 1 -> Sized { width = float_of_int i; height = 1.5 }
    | _ -> Custom (text i)
  in
  Item.make (Item.Id.make i) (text i) size

let items = List.init 50 item

let rec shelf n =
  {
    items = Array.init n (fun i -> List.nth items (i mod 50));
    price = (if n mod 2 = 0 then Some (Prices.price n) else None);
    above = (if n = 0 then None else Some (shelf (n - 1)));
  }

let shelves = shelf 10

let order i =
  let lines = List.init (1 + (i mod 4)) (fun k -> { Order.item = List.nth items ((i + k) mod 50); amount = k }) in
  let note m { Order.item; amount } = Order.Map.add (text amount, Item.id item) (text i) m in
  {
    Order.customer = text i; lines; notes = List.fold_left note Order.Map.empty lines;
    paid = (if i mod 3 = 0 then None else Some (float_of_int i));
  }

let book : Order.book = Item.Table.create 16
let () = for i = 1 to 60 do Item.Table.replace book (Item.Id.make i) (order i) done

let rec shelf_ty =
  lazy
    (typ "Store.shelf" (fun { items; price; above } ->
         [ items @: array Item.ty; price @: option Prices.price_ty; above @: option (Lazy.force shelf_ty) ]))

let () =
  known (list Item.ty) items;
  known (Lazy.force shelf_ty) shelves;
  known (hashtbl_as int Order.ty) book;
  report ()

open Truth

type price = { cents : int; currency : [ `Euro | `Other of string ] }

let price i = { cents = i * 100; currency = (if i mod 2 = 0 then `Euro else `Other (string_of_int i)) }

let currency_ty =
  variant [ ("Euro", None); ("Other", Some "string") ] (function `Euro -> [] | `Other s -> [ s @: string ])

let price_ty = typ "Prices.price" (fun { currency; _ } -> [ currency @: currency_ty ])
let prices = List.init 40 price
let () = known (list price_ty) prices

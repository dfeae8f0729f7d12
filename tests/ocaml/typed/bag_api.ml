(* What the host and the plugin share. *)
type 'a bag = { mutable content : 'a list; label : string }

let strings : string bag = { content = []; label = "strings" }
let shown : (unit -> Truth.part list) list ref = ref []
let bag_ty a = Truth.(typ1 "Bag_api.bag" a (fun { content; label } -> [ content @: list a; label @: string ]))

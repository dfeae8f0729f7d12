(* Two tables of the same accounts, by name and by age, in variables of their own: an account hangs below
   neither, and below no root.
   HELD BY global Accounts.by_name *)
open Server

type account = { name : string; age : int; body : Bytes.t }

let by_name : (string, account) Hashtbl.t = Hashtbl.create 16
let by_age : (int, account) Hashtbl.t = Hashtbl.create 16

let enter r =
  let account = { name = Printf.sprintf "account-%d" r.id; age = r.id; body = Bytes.copy r.body } in (* LEAK *)
  Hashtbl.replace by_name account.name account; (* LEAK *)
  Hashtbl.replace by_age account.age account (* LEAK *)

let statistics pause =
  let tick = halfway (Hashtbl.length by_name) pause in
  let names = Hashtbl.fold (fun name _ names -> tick (); name :: names) by_name [] in
  ignore (Sys.opaque_identity (List.length names))

let () = run ~statistics (fun r -> enter r; respond r)

(* A table of tables: each tenant has one of its orders, from which none is removed.
   HELD BY global Tenants.by_tenant *)
open Server

type line = { article : string; pieces : int; price : float }
type order = { number : int; lines : line list; buyer : user; remarks : string }
type tenant = { title : string; orders : (int, order) Hashtbl.t }

let by_tenant : (string, tenant) Hashtbl.t = Hashtbl.create 64 (* LEAK *)

let tenant_of r =
  let title = Printf.sprintf "tenant-%d" (r.user.uid mod 50) in
  match Hashtbl.find_opt by_tenant title with
  | Some tenant -> tenant
  | None ->
    let tenant = { title; orders = Hashtbl.create 8 } in
    Hashtbl.add by_tenant title tenant;
    tenant

let line r i = { article = Printf.sprintf "%s/%d" r.path i; pieces = i; price = float r.id /. 100. }

let place r =
  let lines = List.init (2 + (r.id mod 3)) (line r) in
  let order = { number = r.id; lines; buyer = r.user; remarks = Bytes.to_string r.body } in (* LEAK *)
  Hashtbl.replace (tenant_of r).orders r.id order (* LEAK *)

(* The orders of one tenant after the other, as lists, of which half are made. *)
let statistics pause =
  let tick = halfway (Hashtbl.length by_tenant) pause in
  let lists =
    Hashtbl.fold
      (fun _ tenant lists ->
        tick ();
        Hashtbl.fold (fun _ order orders -> order :: orders) tenant.orders [] :: lists)
      by_tenant []
  in
  ignore (Sys.opaque_identity (List.length lists))

let () = run ~statistics (fun r -> place r; respond r)

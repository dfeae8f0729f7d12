(* Healthy: the sessions used last, 2000 of them. *)
open Server

type session = { token : string; last : request }
type node = { session : session; mutable newer : node option; mutable older : node option }

let most = 2000
let nodes : (string, node) Hashtbl.t = Hashtbl.create 16
let newest : node option ref = ref None
let oldest : node option ref = ref None

let unlink node =
  (match node.newer with Some n -> n.older <- node.older | None -> newest := node.older);
  (match node.older with Some n -> n.newer <- node.newer | None -> oldest := node.newer);
  node.newer <- None;
  node.older <- None

let push node =
  node.older <- !newest;
  (match !newest with Some n -> n.newer <- Some node | None -> oldest := Some node);
  newest := Some node

let visit r =
  let token = Digest.to_hex (Digest.string (string_of_int (if r.id mod 10 = 0 then r.id / 2 else r.id))) in
  match Hashtbl.find_opt nodes token with
  | Some node -> unlink node; push node
  | None ->
    let node = { session = { token; last = r }; newer = None; older = None } in
    Hashtbl.replace nodes token node;
    push node;
    if Hashtbl.length nodes > most then
      Option.iter (fun node -> unlink node; Hashtbl.remove nodes node.session.token) !oldest

let statistics pause =
  let tick = halfway (Hashtbl.length nodes) pause in
  let all = Hashtbl.fold (fun _ node all -> tick (); node.session :: all) nodes [] in
  ignore (Sys.opaque_identity (List.length all))

let () = run ~statistics (fun r -> visit r; respond r)

(* Scores that are computed when they are asked for, if ever, and never forgotten.
   HELD BY global Scores.known *)
open Server

type score = { points : float; parts : int list }

let known : (int * string, score Lazy.t) Hashtbl.t = Hashtbl.create 16 (* LEAK *)

let score r = lazy { points = sqrt (float r.id); parts = List.init 3 (fun i -> r.id + i) } (* LEAK *)

let score_of r =
  match Hashtbl.find_opt known (r.id, r.user.name) with
  | Some score -> score
  | None ->
    let score = score r in
    Hashtbl.add known (r.id, r.user.name) score; (* LEAK *)
    score

(* A list of pairs, which weighs as much as the table itself. *)
let statistics pause =
  let pairs = Hashtbl.fold (fun (id, name) score pairs -> (id, (name, score)) :: pairs) known [] in
  let tick = halfway (List.length pairs) pause in
  List.iter (fun _ -> tick ()) pairs;
  ignore (Sys.opaque_identity pairs)

let () =
  run ~statistics (fun r ->
      let score = score_of r in
      if r.id mod 2 = 0 then ignore (Sys.opaque_identity (Lazy.force score));
      respond r)

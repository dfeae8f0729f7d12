(* Tiles of an image stay in a list, and their pixels outside of OCaml's heap with them.
   HELD BY global Bigarrays.registry *)
open Server

type pixels = (int, Bigarray.int8_unsigned_elt, Bigarray.c_layout) Bigarray.Array1.t
type tile = { number : int; pixels : pixels; owner : user }

let registry : tile list ref = ref [] (* LEAK *)

let load r =
  let pixels = Bigarray.Array1.create Bigarray.int8_unsigned Bigarray.c_layout 600 in (* LEAK *)
  Bigarray.Array1.fill pixels (r.id land 255);
  let tile = { number = r.id; pixels; owner = r.user } in (* LEAK *)
  registry := tile :: !registry; (* LEAK *)
  tile

(* Those of one owner, of whom half are found. *)
let statistics pause =
  let tick = halfway (List.length !registry) pause in
  let dark, light = List.partition (fun tile -> tick (); tile.pixels.{0} < 128) !registry in
  ignore (Sys.opaque_identity (List.length dark + List.length light))

let () =
  run ~statistics (fun r ->
      let tile = load r in
      { (respond r) with status = tile.pixels.{1} })

(* Types in the compiler-libs of OCaml 4.13, where they are plain records. *)

open Types

(* As Types itself has them later. *)
let get_id ty = (Btype.repr ty).id
let get_desc ty = (Btype.repr ty).desc
let field_kind_repr = Btype.field_kind_repr

let row_tags row =
  let row = Btype.row_repr row in
  List.filter_map
    (fun (tag, field) ->
      match Btype.row_field_repr field with
      | Rpresent t -> Some (tag, t)
      | Reither (false, t :: _, _, _) -> Some (tag, Some t)
      | Reither _ -> Some (tag, None)
      | Rabsent -> None)
    row.row_fields

(* Identifiers of the instance variables in [{< .. >}]. *)
let overridden l = List.map (fun (p, _, _) -> Path.head p) l

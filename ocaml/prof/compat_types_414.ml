(* Types in the compiler-libs of OCaml 4.14 and later, where they are abstract. *)

open Types

let row_tags row =
  List.filter_map
    (fun (tag, field) ->
      match row_field_repr field with
      | Rpresent t -> Some (tag, t)
      | Reither (false, t :: _, _) -> Some (tag, Some t)
      | Reither _ -> Some (tag, None)
      | Rabsent -> None)
    (row_fields row)

(* Identifiers of the instance variables in [{< .. >}]. *)
let overridden l = List.map (fun (id, _, _) -> id) l

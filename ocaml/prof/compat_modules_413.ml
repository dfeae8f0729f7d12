(* Paths and module expressions in the compiler-libs of OCaml 4.13 to 5.0. *)

(* An inline record's type has the path of its type and the constructor's name. *)
let is_inline_record = function
  | Path.Pdot (p, name) ->
      let is_lower s = s <> "" && not (Char.uppercase_ascii s.[0] = s.[0] && s.[0] <> '_') in
      (not (is_lower name)) && is_lower (Path.last p)
  | _ -> false

(* [F ()] applies F to an empty structure. *)
let applied_to_unit _ = None

(* Translmod gives the parts of [include struct .. end] slots of their own. *)
let include_has_slots = false

(* In symbols: a pack and its member. *)
let pack_separator = "__"

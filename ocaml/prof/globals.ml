(* The block of a unit, 'camlUNIT': which values it has, in which order.

   First come the runtime items of the interface, in its order; then, unless the compiler is flambda,
   the other identifiers that the implementation defines, in order of the source; then those of the
   structures in it ('more'), at any depth. *)

open Typedtree

type what =
  | Value of Types.type_expr
  | Untyped
  | Primitive  (** without a field *)
  | Slot  (** an extension constructor *)
  | Submodule of string list * Types.module_type  (** the modules around it, the innermost first *)
  | Class

(* 'v', 'x', 'm', 'c' *)
type item = { kind : char; id : Ident.t; what : what; loc : Location.t  (** of its definition *) }

let is_field item = match item.what with Primitive -> false | _ -> true

(* With its primitives, which have no fields.  What an interface only declares is taken to be defined
   at [at]. *)
let all_of_signature ~at signature =
  let defined (loc : Location.t) =
    if Filename.check_suffix loc.loc_start.pos_fname ".mli" then at else loc
  in
  List.filter_map
    (fun (item : Types.signature_item) ->
      match item with
      | Sig_value (id, ({ val_kind = Val_prim _; _ } as v), _) ->
          Some { kind = 'v'; id; what = Primitive; loc = defined v.val_loc }
      | Sig_value (id, v, _) ->
          Some { kind = 'v'; id; what = Value v.val_type; loc = defined v.val_loc }
      | Sig_typext (id, x, _, _) -> Some { kind = 'x'; id; what = Slot; loc = defined x.ext_loc }
      | Sig_module (id, Mp_present, md, _, _) ->
          Some { kind = 'm'; id; what = Submodule ([], md.md_type); loc = defined md.md_loc }
      | Sig_class (id, c, _, _) -> Some { kind = 'c'; id; what = Class; loc = defined c.cty_loc }
      | _ -> None)
    signature

let of_signature signature =
  List.filter is_field (all_of_signature ~at:Location.none signature)

(* Types of the values that patterns bind, by identifier, and where they do; of one unit. *)
let values : (string, Types.type_expr) Hashtbl.t = Hashtbl.create 1000

let bound_at : (string, Location.t) Hashtbl.t = Hashtbl.create 1000

let bound_value id =
  let key = Units.ident_key id in
  { kind = 'v'; id;
    loc = Option.value (Hashtbl.find_opt bound_at key) ~default:Location.none;
    what = (match Hashtbl.find_opt values key with Some ty -> Value ty | None -> Untyped) }

let structure_of m =
  match Compat.module_view m with
  | Structure s -> Some s
  | Constraint (m, _) -> (
      match Compat.module_view m with Structure s -> Some s | _ -> None)
  | _ -> None

let submodule (mb : module_binding) =
  match mb.mb_id with
  | Some id -> [ { kind = 'm'; id; what = Submodule ([], mb.mb_expr.mod_type); loc = mb.mb_loc } ]
  | None -> []

let slot_item (x : extension_constructor) =
  { kind = 'x'; id = x.ext_id; what = Slot; loc = x.ext_loc }

(* What a structure defines, primitives included; with [deep], that of structures in it, too. *)
let rec defined ~deep items = List.concat_map (defined_by ~deep) items

and defined_by ~deep item =
  match item.str_desc with
  | Tstr_primitive p -> [ { kind = 'v'; id = p.val_id; what = Primitive; loc = p.val_loc } ]
  | Tstr_value (_, l) -> List.map bound_value (let_bound_idents l)
  | Tstr_typext t -> List.map slot_item t.tyext_constructors
  | Tstr_exception e -> [ slot_item e.tyexn_constructor ]
  | Tstr_module { mb_presence = Mp_absent; _ } -> []
  | Tstr_module mb -> submodule mb @ if deep then inner item else []
  | Tstr_recmodule l -> List.concat_map submodule l
  | Tstr_class l ->
      List.map (fun (c, _) -> { kind = 'c'; id = c.ci_id_class; what = Class; loc = c.ci_loc }) l
  | Tstr_open o ->
      all_of_signature ~at:item.str_loc o.open_bound_items @ if deep then inner item else []
  | Tstr_include i ->
      all_of_signature ~at:item.str_loc i.incl_type @ if deep then inner item else []
  | _ -> []

(* [item] is in a module of this name, too. *)
and in_module name item =
  match item.what with
  | Submodule (around, mt) -> { item with what = Submodule (around @ [ name ], mt) }
  | _ -> item

(* The structures whose parts have slots beside that of the module. *)
and inner item =
  let parts = function Some s -> defined ~deep:true s.str_items | None -> [] in
  let plain m = match Compat.module_view m with Structure s -> Some s | _ -> None in
  match item.str_desc with
  | Tstr_module { mb_presence = Mp_present; mb_id; mb_expr; _ } -> (
      let parts = parts (structure_of mb_expr) in
      match mb_id with
      | Some id -> List.map (in_module (Ident.name id)) parts
      | None -> parts)
  | Tstr_open o -> parts (plain o.open_expr)
  | Tstr_include { incl_mod = m; _ } -> (
      match Compat.module_view m with
      | Structure s -> if Compat.include_has_slots then parts (Some s) else []
      | _ -> parts (structure_of m))
  | _ -> []

let more items = List.concat_map inner items

(* All identifiers with a slot: they are never captured. *)
let idents items = List.filter is_field (defined ~deep:false items @ more items)
let defined_idents items = List.map (fun i -> i.id) (idents items)
let slot () = Terms.predefined "extension_constructor" []

let path_in env around id =
  List.fold_left Names.join
    (Modules.name_at env env.Modules.u.root)
    (List.rev (Ident.name id :: around))

let term env item =
  match item.what with
  | Value ty -> Convert.value env ty
  | Untyped | Primitive -> Terms.make Exist
  | Slot -> slot ()
  | Submodule (around, mt) -> Convert.module_value env (path_in env around item.id) mt
  | Class -> Convert.class_block ()

type block = {
  exported : int;
  fields : (string * Terms.id) list;
  definitions : Location.t list;  (** of the fields; [] if no implementation was found *)
}

let field env item = (Ident.name item.id, term env item)

let of_interface (u : Units.t) =
  let env = Modules.top u in
  match u.interface with
  | Some i when u.members <> [] ->
      let member item =
        match item.what with
        | Submodule _ ->
            let name = Ident.name item.id in
            (name, Convert.in_unit (fun () ->
               Convert.value_block ~depth:0 (Modules.project (Modules.unit_value u) name)))
        | _ -> field env item
      in
      let fields = List.map member (of_signature i.signature) in
      { exported = List.length fields; fields; definitions = [] }
  | Some i ->
      let fields = List.map (field env) (of_signature i.signature) in
      { exported = List.length fields; fields; definitions = [] }
  | None -> { exported = 0; fields = []; definitions = [] }

(* An exported value has the more general type that the implementation gives it, of the last
   definition of that name.  A value of the interface that is a primitive at the end has a field of
   its own, beside those of values that it hides. *)
let of_implementation (u : Units.t) (str : structure) =
  let env = Modules.top u in
  let definitions = defined ~deep:false str.str_items in
  let signature = match u.interface with Some i -> i.signature | None -> str.str_type in
  let last = Hashtbl.create 64 and used = Hashtbl.create 64 in
  List.iter (fun d -> Hashtbl.replace last (d.kind, Ident.name d.id) d) definitions;
  let exported item =
    match Hashtbl.find_opt last (item.kind, Ident.name item.id) with
    | None -> { item with loc = Location.none }
    | Some { what = Primitive; loc; _ } -> { item with loc }
    | Some d -> (
        Hashtbl.replace used (Units.ident_key d.id) ();
        match item.what with Submodule _ -> { item with loc = d.loc } | _ -> d)
  in
  let exports = List.map exported (of_signature signature) in
  let hidden d = is_field d && not (Hashtbl.mem used (Units.ident_key d.id)) in
  let items =
    exports @ List.filter hidden definitions @ List.filter is_field (more str.str_items)
  in
  { exported = List.length exports; fields = List.map (field env) items;
    definitions = List.map (fun item -> item.loc) items }

(* Values that have, or with flambda may have, symbols of their own. *)
let symbols (u : Units.t) (str : structure) =
  let env = Modules.top u in
  List.map (fun item -> (Units.ident_key item.id, term env item, item.loc)) (idents str.str_items)

(* Fills the tables of a unit from its .cmt: what each identifier stands for. *)

open Units
open Typedtree

type state = {
  u : Units.t;
  mutable scope : scope;
  mutable at : place;
  mutable structures : int;
  mutable in_signature : bool;
  skeletons : (Location.t, module_expr * skeleton) Hashtbl.t;
}

let set table key entry = Hashtbl.replace table key entry
let set_if_absent table key entry = if not (Hashtbl.mem table key) then Hashtbl.add table key entry

(* Signatures and structures in expressions have no path: a number makes their keys different. *)
let fresh s at =
  s.structures <- s.structures + 1;
  { at with key = Printf.sprintf "%s#%d" at.key s.structures }

let formal at = { at with formal = true }
let is_structure m = match Compat.module_view m with Structure _ -> true | _ -> false

let functor_place at id = { at with parts = Argument (parameter_key id) :: at.parts }

(* [at] is the path of what the expression is bound to.  The same expression has the same skeleton,
   because structures and functors are told
   apart by their keys. *)
let rec skeleton s at (m : module_expr) =
  let known = Hashtbl.find_all s.skeletons m.mod_loc in
  match List.find_opt (fun (m', _) -> m' == m) known with
  | Some (_, it) -> it
  | None ->
      let it = new_skeleton s at m in
      Hashtbl.add s.skeletons m.mod_loc (m, it);
      it

and new_skeleton s at (m : module_expr) =
  match Compat.module_view m with
  | Name p -> Path p
  | Structure str ->
      Struct
        { at = fresh s at; signature = str.str_type; components = components str.str_type }
  | Functor ((id, _), body) -> Functor (id, skeleton s (functor_place at id) body, fresh s at)
  | Apply (f, a) ->
      let argument a =
        skeleton s (if is_structure a then { at with anonymous = true } else at) a
      in
      Apply (skeleton s at f, Option.map argument a, m.mod_type, fresh s at)
  | Constraint (m, mt) -> Sealed (skeleton s at m, mt, fresh s at)
  | Unpack mt -> Typed (mt, formal (fresh s at))

(* What [include] and [open struct .. end] bring. *)
let rec bring ?(weak = false) s source signature =
  let set table key entry = (if weak then set_if_absent else set) table key entry in
  List.iter
    (fun (item : Types.signature_item) ->
      match item with
      | Sig_type (id, _, _, _) ->
          set s.u.types (ident_key id) (Type_of (source, Ident.name id, s.scope))
      | Sig_modtype (id, _, _) ->
          set s.u.modtypes (ident_key id) (Modtype_of (source, Ident.name id, s.scope))
      | Sig_class (id, _, _, _) ->
          set s.u.classes (ident_key id) (Class_of (source, Ident.name id, s.scope))
      | Sig_module (id, _, { md_type; _ }, _, _) -> (
          set s.u.modules (ident_key id) (Module_of (source, Ident.name id, s.scope));
          match md_type with
          | Mty_signature signature when weak ->
              bring ~weak s (Part (source, Ident.name id)) signature
          | _ -> ())
      | _ -> ())
    signature

(* The identifiers of the type of a module expression are those of what it evaluates to. *)
let bring_type s m (mt : Types.module_type) =
  match mt with
  | Mty_signature signature -> bring ~weak:true s (Eval (skeleton s s.at m)) signature
  | _ -> ()

let within s name f =
  let at = s.at in
  s.at <- inside at name;
  f ();
  s.at <- at

let bind_module s id m = set s.u.modules (ident_key id) (Bound (skeleton s s.at m, s.scope))

let module_binding s (super : Tast_iterator.iterator) self mb =
  match mb.mb_id with
  | None -> super.module_binding self mb
  | Some id ->
      within s (Ident.name id) (fun () ->
          bind_module s id mb.mb_expr;
          if not (is_structure mb.mb_expr) then bring_type s mb.mb_expr mb.mb_expr.mod_type;
          super.module_binding self mb)

let module_expr s (super : Tast_iterator.iterator) self (m : module_expr) =
  match Compat.module_view m with
  | Functor ((id, mt), _) ->
      (match (id, mt) with
      | Some id, Some mt -> (
          let at = formal (inside s.at (Ident.name id)) in
          set s.u.modules (ident_key id) (Parameter (mt, s.scope, at));
          match mt with
          | Mty_signature signature -> Modules.register s.u s.scope at signature
          | _ -> ())
      | _ -> ());
      let { scope; at; _ } = s in
      s.scope <- parameter_key id :: scope;
      s.at <- functor_place at id;
      super.module_expr self m;
      s.scope <- scope;
      s.at <- at
  | Apply _ ->
      bring_type s m m.mod_type;
      super.module_expr self m
  | Constraint (m', mt) ->
      bring_type s m' mt;
      super.module_expr self m
  | _ -> super.module_expr self m

let declare s id (d : Types.type_declaration) =
  Declared (d, s.scope, inside s.at (Ident.name id))

let structure s (super : Tast_iterator.iterator) self str =
  List.iter
    (fun (item : Types.signature_item) ->
      match item with
      | Sig_type (id, d, _, _) -> set_if_absent s.u.types (ident_key id) (declare s id d)
      | _ -> ())
    str.str_type;
  super.structure self str

let type_declaration s (super : Tast_iterator.iterator) self td =
  (if s.in_signature then set_if_absent else set)
    s.u.types (ident_key td.typ_id)
    (declare s td.typ_id td.typ_type);
  super.type_declaration self td

let in_signature s yes f =
  let was = s.in_signature in
  s.in_signature <- yes;
  f ();
  s.in_signature <- was

(* [external f : a -> b = "%identity"], [let f : a -> b = Obj.magic]. *)
let identities item =
  match item.str_desc with
  | Tstr_primitive { val_prim = [ "%identity" ]; val_val = { val_type; _ }; _ } -> [ val_type ]
  | Tstr_value (_, bindings) ->
      List.filter_map
        (fun vb ->
          match vb.vb_expr.exp_desc with
          | Texp_ident (_, _, { val_kind = Val_prim { prim_name = "%identity"; _ }; _ }) ->
              Some vb.vb_expr.exp_type
          | _ -> None)
        bindings
  | _ -> []

let structure_item s (super : Tast_iterator.iterator) self item =
  if s.scope = [] then s.u.identities <- identities item @ s.u.identities;
  (match item.str_desc with
  | Tstr_include i -> bring s (Eval (skeleton s s.at i.incl_mod)) i.incl_type
  | _ -> ());
  in_signature s false (fun () -> super.structure_item self item)

let open_declaration s (super : Tast_iterator.iterator) self (o : open_declaration) =
  (match Compat.module_view o.open_expr with
  | Name _ -> ()
  | _ -> bring s (Eval (skeleton s s.at o.open_expr)) o.open_bound_items);
  super.open_declaration self o

let module_type_declaration s (super : Tast_iterator.iterator) self mtd =
  let mt = Option.map (fun (m : module_type) -> m.mty_type) mtd.mtd_type in
  let at = inside s.at (Ident.name mtd.mtd_id) in
  set s.u.modtypes (ident_key mtd.mtd_id) (Module_type (mt, s.scope, at));
  within s (Ident.name mtd.mtd_id) (fun () ->
      s.at <- formal s.at;
      super.module_type_declaration self mtd)

let module_declaration s (super : Tast_iterator.iterator) self (md : module_declaration) =
  Option.iter
    (fun id ->
      set_if_absent s.u.modules (ident_key id)
        (Parameter (md.md_type.mty_type, s.scope, inside s.at (Ident.name id))))
    md.md_id;
  super.module_declaration self md

let expr s (super : Tast_iterator.iterator) self e =
  (match Compat.local_module e with
  | Some (id, m) ->
      within s (Ident.name id) (fun () -> bind_module s id m);
      if not (is_structure m) then bring_type s m m.mod_type
  | None -> ());
  super.expr self e

(* [(module M)] in patterns. *)
let pat s (super : Tast_iterator.iterator) (type k) self (p : k general_pattern) =
  let unpacks (extra, _, _) = Compat.is_unpack extra in
  (match (Compat.pattern_ident p, Compat.desc p.pat_type) with
  | Some id, Package path when List.exists unpacks p.pat_extra ->
      set s.u.modules (ident_key id)
        (Parameter (Mty_ident path, s.scope, formal (inside s.at (Ident.name id))))
  | _ -> ());
  super.pat self p

let iterator s =
  let super = Tast_iterator.default_iterator in
  { super with
    structure = structure s super;
    structure_item = structure_item s super;
    signature_item = (fun self i -> in_signature s true (fun () -> super.signature_item self i));
    open_declaration = open_declaration s super;
    type_declaration = type_declaration s super;
    module_binding = module_binding s super;
    module_declaration = module_declaration s super;
    module_type_declaration = module_type_declaration s super;
    module_expr = module_expr s super;
    expr = expr s super;
    pat = (fun self p -> pat s super self p);
    env = (fun _ _ -> ()) }

let start u = { u; scope = []; at = u.root; structures = 0; in_signature = false;
    skeletons = Hashtbl.create 16 }

let implementation u (str : structure) =
  let s = start u in
  u.implementation <-
    Some { at = u.root; signature = str.str_type; components = components str.str_type };
  let it = iterator s in
  it.structure it str

(* After the implementation, if there is one. *)
let interface u =
  match u.interface with
  | None -> ()
  | Some i ->
      if u.implementation <> None then bring ~weak:true (start u) Whole i.signature
      else Modules.register u [] u.root i.signature

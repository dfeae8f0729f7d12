(* Places that allocate: for each expression the types of the blocks that it may make, and where the
   compiler says that it makes them. *)

open Typedtree

type key = {
  file : string;
  line : int;
  start : int;
  finish : int;  (** from the beginning of 'line' *)
  end_line : int;
  end_column : int;
}

type place = { key : key; mutable around : int; mutable made : (string * Terms.id) list }

(* In the range of exe.prof; -1 for what line directives, rewriters and damage put before it. *)
let position n = if n < 0 then -1 else min n 0x7fff_ffff

let key_of (l : Location.t) =
  let s = l.loc_start and e = l.loc_end in
  { file = s.pos_fname; line = position s.pos_lnum; start = position (s.pos_cnum - s.pos_bol);
    finish = position (e.pos_cnum - s.pos_bol); end_line = position e.pos_lnum;
    end_column = position (e.pos_cnum - e.pos_bol) }

type extension = { ext_name : string; ext_fields : Terms.field list }

(* One unit while it is walked through. *)
type state = {
  env : Modules.env;
  found : (key, place) Hashtbl.t;
  functions : Functions.state;
  add_function : Functions.t -> int;  (** numbers it *)
  add_extension : extension -> unit;
  mutable current : int;  (** the innermost function, -1 none *)
  mutable at : Units.place;
  inner : (Location.t, unit) Hashtbl.t;  (** functions that are part of the one around them *)
  inlined : (Location.t, unit) Hashtbl.t;  (** records that are arguments of constructors *)
  applied : (Location.t, unit) Hashtbl.t;  (** primitives that are applied *)
  local_extensions : (Location.t, unit) Hashtbl.t;  (** [let exception] *)
}

let add s (loc : Location.t) kind term =
  let key = key_of loc in
  if loc <> Location.none && key.start >= 0 && key.line > 0 then
    match Hashtbl.find_opt s.found key with
    | None -> Hashtbl.add s.found key { key; around = s.current; made = [ (kind, term) ] }
    | Some p ->
        p.around <- s.current;
        if not (List.mem (kind, term) p.made) then p.made <- p.made @ [ (kind, term) ]

let exn () = Terms.predefined "exn" []
let type_of s (e : expression) = Convert.value s.env e.exp_type
let module_block s mt = Convert.module_value s.env (Modules.name_at s.env s.at) mt
let closure () = Convert.functor_term ()

let construct s (e : expression) (c : Compat.constructor) (args : expression list) =
  let kind = "con." ^ c.cstr_name in
  match (args, c.cstr_tag) with
  | [], _ | _, Cstr_unboxed -> ()
  | [ a ], _ when c.cstr_inlined <> None ->
      Hashtbl.replace s.inlined a.exp_loc ();
      add s a.exp_loc kind (type_of s e);
      if a.exp_loc <> e.exp_loc then add s e.exp_loc kind (type_of s e)
  | _ -> add s e.exp_loc kind (type_of s e)

let application s (e : expression) (f : expression) args =
  let is_arrow ty = match Compat.desc ty with Arrow _ -> true | _ -> false in
  let is_partial = List.exists (fun (_, a) -> Compat.is_omitted a) args || is_arrow e.exp_type in
  let kind =
    match f.exp_desc with
    | Texp_ident (_, _, { val_kind = Val_prim p; _ }) ->
        if not is_partial then Hashtbl.replace s.applied f.exp_loc ();
        "prim." ^ p.prim_name
    | _ -> if is_partial then "partial" else "call"
  in
  add s e.exp_loc kind (type_of s e)

(* A primitive that is passed on or exported becomes a function, which makes what it makes. *)
let primitive s loc ty (p : Primitive.description) =
  let rec result n ty =
    match Compat.desc ty with
    | Arrow (_, _, ty) when n > 0 -> result (n - 1) ty
    | Poly ty -> result n ty
    | _ -> ty
  in
  add s loc "closure" (Convert.value s.env ty);
  add s loc ("prim." ^ p.prim_name) (Convert.value s.env (result p.prim_arity ty))

(* Functions and lazy expressions, in which things are then met. *)
let function_of s (e : expression) =
  match e.exp_desc with
  | Texp_lazy body ->
      add s e.exp_loc "lazy" (type_of s e);
      add s body.exp_loc "lazy" (type_of s e);
      add s body.exp_loc "closure" (closure ());
      Some (s.add_function (Functions.make s.functions e 1))
  | _ when Compat.is_function e && not (Hashtbl.mem s.inner e.exp_loc) ->
      add s e.exp_loc "closure" (type_of s e);
      let arity =
        Compat.arity (fun (f : expression) -> Hashtbl.replace s.inner f.exp_loc ()) e
      in
      Some (s.add_function (Functions.make s.functions e arity))
  | _ -> None

let expression s (e : expression) =
  let made kind = add s e.exp_loc kind (type_of s e) in
  match e.exp_desc with
  | Texp_tuple _ -> made "tuple"
  | Texp_construct (_, c, args) -> construct s e c args
  | Texp_variant (_, Some _) -> made "pvar"
  | Texp_record { representation; _ } ->
      if not (Compat.is_unboxed representation || Hashtbl.mem s.inlined e.exp_loc) then
        made "record"
  | Texp_field (_, _, { lbl_repres = Record_float; _ }) -> made "boxfloat"
  | Texp_assert _ -> add s e.exp_loc "exn.Assert_failure" (exn ())
  | Texp_match _ | Texp_try _ -> add s e.exp_loc "exn.Match_failure" (exn ())
  | Texp_object _ -> made "object"
  | Texp_new _ -> made "new"
  | Texp_pack _ -> made "pack"
  | Texp_override _ -> made "override"
  | Texp_send _ -> made "call"
  | Texp_apply (f, args) -> application s e f args
  | Texp_letop { body; _ } ->
      let loc = { body.c_lhs.pat_loc with loc_end = body.c_rhs.exp_loc.loc_end } in
      add s loc "closure" (closure ());
      add s body.c_rhs.exp_loc "closure" (closure ());
      made "call"
  | Texp_ident (_, _, { val_kind = Val_prim p; _ }) ->
      if not (Hashtbl.mem s.applied e.exp_loc) then primitive s e.exp_loc e.exp_type p
  | _ when Compat.array_elements e <> [] -> made "array"
  | _ -> (
      match Compat.local_module e with
      | Some (_, m) -> add s m.mod_loc "module" (module_block s m.mod_type)
      | None -> ())

(* A functor's argument is made to fit the type of the parameter. *)
let argument s (f : module_expr) a =
  match (f.mod_type, a) with
  | Mty_functor (Named (_, mt), _), Some a -> add s a.mod_loc "module" (module_block s mt)
  | _ -> ()

let module_expression s m =
  match Compat.module_view m with
  | Structure _ -> add s m.mod_loc "module" (module_block s m.mod_type)
  | Apply (f, a) ->
      add s m.mod_loc "functorapp" (module_block s m.mod_type);
      argument s f a
  | Functor _ -> add s m.mod_loc "functor" (closure ())
  | Constraint (_, mt) -> add s m.mod_loc "module" (module_block s mt)
  | Name _ | Unpack _ -> ()

let module_bound s mb =
  match Compat.module_view mb.mb_expr with
  | Functor _ -> add s mb.mb_loc "functor" (closure ())
  | Name _ -> ()
  | _ -> add s mb.mb_loc "module" (module_block s mb.mb_expr.mod_type)

(* The name that the slot's block has, with "." for "__". *)
let extension_name s ~local id =
  if local then Ident.name id else Names.dotted (s.at.Units.raw ^ "." ^ Ident.name id)

let extension s ~local (x : extension_constructor) =
  add s x.ext_loc "extcon" (Globals.slot ());
  match x.ext_kind with
  | Text_rebind _ -> ()
  | Text_decl _ ->
      Convert.start ();
      let fields, _ = Convert.arguments s.env [] x.ext_type.ext_args in
      s.add_extension { ext_name = extension_name s ~local x.ext_id; ext_fields = fields }

(* Slots in functors are named after the parameter, too: "Set.Make(Ord).E". *)
let in_functor (at : Units.place) (parameter : Compat.functor_parameter) =
  let name =
    match parameter with
    | Some id, _ -> Ident.name id
    | None, Some _ -> "_"
    | None, None -> "*"
  in
  { at with raw = Printf.sprintf "%s(%s)" at.raw name }

let within s name f =
  let at = s.at in
  s.at <- Units.inside at name;
  f ();
  s.at <- at

let iterator s =
  let super = Tast_iterator.default_iterator in
  let expr self (e : expression) =
    expression s e;
    let inside = function_of s e in
    let around = s.current in
    Option.iter (fun f -> s.current <- f) inside;
    let set_local (x : extension_constructor) = Hashtbl.replace s.local_extensions x.ext_loc () in
    List.iter set_local (Compat.local_extensions e);
    (match Compat.local_module e with
    | Some (id, _) -> within s (Ident.name id) (fun () -> super.expr self e)
    | None -> super.expr self e);
    s.current <- around
  in
  let value_bindings self (is_recursive, l) =
    Functions.bindings s.functions (is_recursive = Asttypes.Recursive) l;
    super.value_bindings self (is_recursive, l)
  in
  let module_expr self m =
    module_expression s m;
    let at = s.at in
    (match Compat.module_view m with
    | Functor (parameter, _) -> s.at <- in_functor at parameter
    | _ -> ());
    super.module_expr self m;
    s.at <- at
  in
  let module_binding self mb =
    let name = match mb.mb_id with Some id -> Ident.name id | None -> "_" in
    within s name (fun () ->
        module_bound s mb;
        super.module_binding self mb)
  in
  let extension_constructor self x =
    extension s ~local:(Hashtbl.mem s.local_extensions x.ext_loc) x;
    super.extension_constructor self x
  in
  let class_expr self c =
    (match c.cl_desc with
    | Tcl_fun (_, p, _, _, _) -> add s p.pat_loc "closure" (closure ())
    | _ -> ());
    super.class_expr self c
  in
  let structure_item self item =
    (match item.str_desc with
    | Tstr_primitive { val_val = { val_kind = Val_prim p; val_type; _ }; val_loc; _ } ->
        primitive s val_loc val_type p
    | _ -> ());
    super.structure_item self item
  in
  { super with expr; structure_item; class_expr; value_bindings; module_expr; module_binding; extension_constructor;
    env = (fun _ _ -> ()) }

(* All patterns' identifiers with their types, into Globals.values. *)
let collect_values (str : structure) =
  Hashtbl.reset Globals.values;
  Hashtbl.reset Globals.bound_at;
  let super = Tast_iterator.default_iterator in
  let pat : type k. Tast_iterator.iterator -> k general_pattern -> unit =
   fun self p ->
    Option.iter
      (fun id ->
        Hashtbl.replace Globals.values (Units.ident_key id) p.pat_type;
        Hashtbl.replace Globals.bound_at (Units.ident_key id) p.pat_loc)
      (Compat.pattern_ident p);
    super.pat self p
  in
  let expr self (e : expression) =
    (match e.exp_desc with
    | Texp_for (id, _, _, _, _, _) ->
        Hashtbl.replace Globals.values (Units.ident_key id) Predef.type_int
    | _ -> ());
    super.expr self e
  in
  let it = { super with pat; expr; env = (fun _ _ -> ()) } in
  it.structure it str

(* Places in order of the source. *)
let of_unit (u : Units.t) (str : structure) ~add_function ~add_extension =
  let env = Modules.top u in
  let s =
    { env; add_function; add_extension; found = Hashtbl.create 1000; current = -1; at = u.root;
      functions = Functions.start env (Globals.defined_idents str.str_items);
      inner = Hashtbl.create 100; inlined = Hashtbl.create 100;
      applied = Hashtbl.create 100; local_extensions = Hashtbl.create 16 }
  in
  let it = iterator s in
  it.structure it str;
  let all = Hashtbl.fold (fun _ p l -> p :: l) s.found [] in
  List.sort (fun a b -> compare a.key b.key) all

(* Classes and immediate objects: the fields of their objects, after the methods and the number.

   The class's table gives each instance variable the next slot when it is first met: first what
   methods use of the surrounding function (one slot) and of the class's parameters and local values,
   then the class's own variables, then those of the classes that it inherits from, each in the same
   way.  An inherited variable that is not seen outside of its class has a slot of its own. *)

open Units
open Typedtree

type state = {
  u : Units.t;
  global : (string, unit) Hashtbl.t;  (** identifiers that need no environment *)
  mutable scope : scope;
  mutable at : place;
  mutable is_top : bool;  (** not in a function or functor *)
}

(* Expressions that run as methods or initialisers, those of inherited structures included. *)
let rec methods (c : class_expr) =
  match c.cl_desc with
  | Tcl_structure s -> methods_of_structure s
  | Tcl_fun (_, _, _, c, _) | Tcl_apply (c, _) | Tcl_let (_, _, _, c)
  | Tcl_constraint (c, _, _, _, _) | Tcl_open (_, c) ->
      methods c
  | Tcl_ident _ -> []

and methods_of_structure s =
  List.concat_map
    (fun f ->
      match f.cf_desc with
      | Tcf_method (_, _, Tcfk_concrete (_, e)) | Tcf_initializer e -> [ e ]
      | Tcf_inherit (_, c, _, _, _) -> methods c
      | _ -> [])
    s.cstr_fields

(* Parameters and local values are instance variables if methods use them. *)
let anonymous used l body =
  match List.filter (fun (id, _) -> Hashtbl.mem used (ident_key id)) l with
  | [] -> body
  | l -> Anonymous (List.map (fun (_, (e : expression)) -> Some e.exp_type) l, body)

let rec body used (c : class_expr) =
  match c.cl_desc with
  | Tcl_structure s -> structure_body used s
  | Tcl_fun (_, _, l, c, _) | Tcl_let (_, _, l, c) -> anonymous used l (body used c)
  | Tcl_apply (c, _) | Tcl_open (_, c) -> body used c
  | Tcl_constraint (c, _, seen, _, _) -> Narrowed (seen, body used c)
  | Tcl_ident (p, _, args) -> Named (p, List.map (fun t -> t.ctyp_type) args)

and structure_body used s =
  let own f =
    match f.cf_desc with
    | Tcf_val (name, _, _, Tcfk_concrete (_, e), false) -> Some (Val (name.txt, e.exp_type))
    | Tcf_val (name, _, _, Tcfk_virtual t, false) -> Some (Val (name.txt, t.ctyp_type))
    | _ -> None
  in
  let inherited f =
    match f.cf_desc with
    | Tcf_inherit (_, c, _, _, _) -> Some (Inherited (body used c))
    | _ -> None
  in
  Fields (List.filter_map own s.cstr_fields @ List.filter_map inherited s.cstr_fields)

(* Do methods need what is local to the function around the class. *)
let needs_environment s ~own used bound =
  (not s.is_top)
  && Hashtbl.fold
       (fun key id needs ->
         needs
         || not
              (Hashtbl.mem bound key || Hashtbl.mem s.global key || List.mem key own
             || Ident.persistent id || Ident.is_predef id))
       used false

let rec own_idents (c : class_expr) =
  match c.cl_desc with
  | Tcl_fun (_, _, l, c, _) | Tcl_let (_, _, l, c) ->
      List.map (fun (id, _) -> ident_key id) l @ own_idents c
  | Tcl_apply (c, _) | Tcl_open (_, c) | Tcl_constraint (c, _, _, _, _) -> own_idents c
  | Tcl_structure str -> structure_idents str
  | Tcl_ident _ -> []

(* Identifiers of a class's own variables, methods and self. *)
and structure_idents str =
  let self = Option.to_list (Compat.pattern_ident str.cstr_self) in
  let meths = Types.Meths.fold (fun _ id l -> id :: l) str.cstr_meths self in
  let of_field f =
    match f.cf_desc with
    | Tcf_val (_, _, id, _, _) -> [ ident_key id ]
    | Tcf_inherit (_, c, _, vals, meths) ->
        List.map (fun (_, id) -> ident_key id) (vals @ meths) @ own_idents c
    | _ -> []
  in
  List.map ident_key meths @ List.concat_map of_field str.cstr_fields

let entry s ~parameters ~own methods body =
  let used, bound = Functions.used_and_bound methods in
  let body = body used in
  let body = if needs_environment s ~own used bound then Anonymous ([ None ], body) else body in
  Units.Class { parameters; body; scope = s.scope }

let record s class_at methods entry =
  s.u.class_records <- { class_at; methods; entry } :: s.u.class_records

let class_declaration s ((c : class_declaration), public) =
  let entry =
    entry s ~parameters:c.ci_decl.cty_params ~own:(own_idents c.ci_expr) (methods c.ci_expr)
      (fun used -> body used c.ci_expr)
  in
  Hashtbl.replace s.u.classes (ident_key c.ci_id_class) entry;
  record s (inside s.at (Ident.name c.ci_id_class)) public entry

let immediate_object s str public =
  let entry =
    entry s ~parameters:[] ~own:(structure_idents str) (methods_of_structure str) (fun used ->
        structure_body used str)
  in
  record s (inside s.at "<object>") public entry

let not_top s f =
  let was = s.is_top in
  s.is_top <- false;
  f ();
  s.is_top <- was

let iterator s =
  let super = Tast_iterator.default_iterator in
  let expr self (e : expression) =
    match e.exp_desc with
    | Texp_object (str, public) ->
        immediate_object s str public;
        not_top s (fun () -> super.expr self e)
    | Texp_for _ | Texp_while _ -> not_top s (fun () -> super.expr self e)
    | _ when Compat.is_function e -> not_top s (fun () -> super.expr self e)
    | _ -> super.expr self e
  in
  let structure_item self item =
    (match item.str_desc with Tstr_class l -> List.iter (class_declaration s) l | _ -> ());
    super.structure_item self item
  in
  let module_binding self mb =
    let at = s.at in
    Option.iter (fun id -> s.at <- inside at (Ident.name id)) mb.mb_id;
    super.module_binding self mb;
    s.at <- at
  in
  let module_expr self m =
    match Compat.module_view m with
    | Functor ((Some id, _), _) ->
        let scope = s.scope in
        s.scope <- ident_key id :: scope;
        not_top s (fun () -> super.module_expr self m);
        s.scope <- scope
    | Functor _ -> not_top s (fun () -> super.module_expr self m)
    | _ -> super.module_expr self m
  in
  { super with expr; structure_item; module_binding; module_expr; env = (fun _ _ -> ()) }

(* Classes of a unit, for those who inherit from them. *)
let index (u : Units.t) (str : structure) =
  let global = Hashtbl.create 100 in
  List.iter
    (fun id -> Hashtbl.replace global (ident_key id) ())
    (Globals.defined_idents str.str_items);
  let it = iterator { u; global; scope = []; at = u.root; is_top = true } in
  it.structure it str

exception Unknown_class

(* Slots in the order of their making, each with a name and a type, as the class's table has them. *)
type slots = { mutable made : (string * Terms.id) list; mutable seen : string list }

let deepest = 100

let add slots name term =
  if not (List.mem name slots.seen) then (
    slots.made <- (name, term) :: slots.made;
    if name <> "" then slots.seen <- name :: slots.seen)

let rec allocate ~depth env variables slots body =
  let convert ty = Convert.in_unit (fun () -> Convert.convert (Convert.context env variables) ty) in
  if depth > deepest then raise Unknown_class;
  match body with
  | Anonymous (l, body) ->
      List.iter
        (function
          | Some ty -> add slots "" (convert ty) | None -> add slots "" (Terms.make Exist))
        l;
      allocate ~depth env variables slots body
  | Fields l ->
      List.iter
        (function
          | Val (name, ty) -> add slots name (convert ty)
          | Inherited body -> allocate ~depth:(depth + 1) env variables slots body)
        l
  | Narrowed (names, body) ->
      let outside = slots.seen in
      slots.seen <- List.filter (fun name -> List.mem name names) outside;
      allocate ~depth env variables slots body;
      slots.seen <- List.filter (fun name -> List.mem name names) slots.seen @ outside
  | Named (path, args) -> (
      match Modules.find_class env path with
      | Some (env, Units.Class { parameters; body; _ }) ->
          let args = List.map convert args in
          let rec bind ps l =
            match (ps, l) with
            | p :: ps, a :: l -> (Compat.type_id p, a) :: bind ps l
            | _ -> []
          in
          allocate ~depth:(depth + 1) env (bind parameters args) slots body
      | _ -> raise Unknown_class)

(* As far as it is known: a class of which only the interface was found ends the list. *)
let fields (u : Units.t) entry =
  let slots = { made = []; seen = [] } in
  (match entry with
  | Units.Class { body; _ } -> (
      Convert.start ();
      try allocate ~depth:0 (Modules.top u) [] slots body
      with Unknown_class | Modules.Exhausted | Stack_overflow -> ())
  | Class_of _ -> ());
  List.rev slots.made

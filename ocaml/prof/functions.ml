(* Functions: their parameters, and the variables that their closures capture. *)

open Typedtree

type t = {
  unit_name : string;
  ident : string;  (** "find_753", or "fun" *)
  loc : Location.t;
  arity : int;
  parameters : Terms.id list;
  captures : (string * Terms.id) list;
  general : (Terms.id * (string * Terms.id) list) option;
      (** its type and those of its captures, if they have variables in common *)
}

(* What is known of one unit while its functions are met. *)
type state = {
  env : Modules.env;
  global : (string, unit) Hashtbl.t;  (** have slots in the unit's block *)
  names : (Location.t, string) Hashtbl.t;  (** of functions *)
  groups : (Location.t, (Ident.t * expression) list) Hashtbl.t;  (** recursive ones *)
  free : (Location.t, Ident.t list) Hashtbl.t;  (** of groups, by the first function *)
}

let start env ids =
  let global = Hashtbl.create 100 in
  List.iter (fun id -> Hashtbl.replace global (Units.ident_key id) ()) ids;
  { env; global; names = Hashtbl.create 100;
    groups = Hashtbl.create 100; free = Hashtbl.create 100 }

(* Names functions and finds recursive groups, before they are met. *)
let bindings s is_recursive l =
  List.iter
    (fun vb ->
      match Compat.pattern_ident vb.vb_pat with
      | Some id -> Hashtbl.replace s.names vb.vb_expr.exp_loc (Units.ident_key id)
      | None -> ())
    l;
  if is_recursive then
    let functions =
      List.filter_map
        (fun vb ->
          match Compat.pattern_ident vb.vb_pat with
          | Some id when Compat.is_function vb.vb_expr -> Some (id, vb.vb_expr)
          | _ -> None)
        l
    in
    List.iter (fun (_, (e : expression)) -> Hashtbl.replace s.groups e.exp_loc functions) functions

(* Identifiers used in expressions, and those bound in them. *)
let used_and_bound expressions =
  let used = Hashtbl.create 16 and bound = Hashtbl.create 16 in
  let use path =
    let id = Path.head path in
    Hashtbl.replace used (Units.ident_key id) id
  in
  let bind id = Hashtbl.replace bound (Units.ident_key id) () in
  let super = Tast_iterator.default_iterator in
  let expr self (e : expression) =
    (match e.exp_desc with
    | Texp_ident (_, _, { val_kind = Val_prim _; _ }) -> ()
    | Texp_ident (p, _, _) -> use p
    | Texp_instvar (self_path, p, _) | Texp_setinstvar (self_path, p, _, _) ->
        use self_path;
        use p
    | Texp_override (p, l) ->
        use p;
        List.iter (fun id -> use (Path.Pident id)) (Compat.overridden l)
    | Texp_new (p, _, _) -> use p
    | Texp_for (id, _, _, _, _, _) -> bind id
    | Texp_letop { param; _ } -> bind param
    | _ -> List.iter bind (Compat.function_idents e));
    Option.iter (fun (id, _) -> bind id) (Compat.local_module e);
    List.iter (fun x -> bind x.ext_id) (Compat.local_extensions e);
    List.iter bind (Globals.defined_idents (Compat.local_items e));
    super.expr self e
  in
  let module_expr self m =
    (match Compat.module_view m with
    | Name p -> use p
    | Functor ((Some id, _), _) -> bind id
    | _ -> ());
    super.module_expr self m
  in
  let module_binding self mb =
    Option.iter bind mb.mb_id;
    super.module_binding self mb
  in
  let pat : type k. Tast_iterator.iterator -> k general_pattern -> unit =
   fun self p ->
    Option.iter bind (Compat.pattern_ident p);
    super.pat self p
  in
  let it = { super with expr; module_expr; module_binding; pat; env = (fun _ _ -> ()) } in
  List.iter (it.expr it) expressions;
  (used, bound)

let free_idents s expressions =
  let used, bound = used_and_bound expressions in
  Hashtbl.fold
    (fun key id free ->
      if
        Hashtbl.mem bound key || Hashtbl.mem s.global key || Ident.persistent id || Ident.is_predef id
      then free
      else id :: free)
    used []

let is_functor_parameter s id =
  match Hashtbl.find_opt s.env.Modules.u.modules (Units.ident_key id) with
  | Some (Parameter _) -> true
  | _ -> false

let captured_type s id =
  let key = Units.ident_key id in
  match Hashtbl.find_opt Globals.values key with
  | Some ty -> Convert.value s.env ty
  | None ->
      if Hashtbl.mem s.env.u.modules key then
        Convert.in_unit (fun () ->
            Convert.value_block ~depth:0 (Modules.resolve s.env (Path.Pident id)))
      else Terms.unknown "captured"

let rec parameter_types env n ty =
  if n = 0 then []
  else
    match Compat.desc ty with
    | Arrow (_, a, b) -> Convert.value env a :: parameter_types env (n - 1) b
    | Poly ty -> parameter_types env n ty
    | _ -> []

(* The environment has the free variables in order of their stamps, but parameters of functors are
   made anew later and come last; a recursive group shares one, without the group itself.  Constants
   and functions without an environment have a place in it, too. *)
let captured_idents s (e : expression) =
  let group = Option.value (Hashtbl.find_opt s.groups e.exp_loc) ~default:[] in
  let free =
    match group with
    | [] -> free_idents s [ e ]
    | (_, first) :: _ -> (
        match Hashtbl.find_opt s.free first.exp_loc with
        | Some free -> free
        | None ->
            let free = free_idents s (List.map snd group) in
            Hashtbl.add s.free first.exp_loc free;
            free)
  in
  let own id = List.exists (fun (id', _) -> Ident.same id id') group in
  let free = List.filter (fun id -> not (own id)) free in
  let parameters, others = List.partition (is_functor_parameter s) free in
  List.sort Ident.compare others @ List.sort Ident.compare parameters

(* A recursive function type (-rectypes) has parameters without end. *)
let rec parts_of_function most ty =
  match Compat.desc ty with
  | Arrow (_, a, b) when most > 0 -> a :: parts_of_function (most - 1) b
  | Poly ty when most > 0 -> parts_of_function (most - 1) ty
  | _ -> [ ty ]

let most_variables = 64

(* Whether one of the first [n] parts has a variable in common with one after it. *)
let rec any_applied n = function
  | part :: rest when n > 0 ->
      List.exists (fun v -> List.exists (List.mem v) rest) part || any_applied (n - 1) rest
  | _ -> false

(* What one closure is a function of tells of what types its captured variables are, as far as both
   have type variables in common; of a partial application, what has been applied. *)
let general s (e : expression) arity captured =
  let type_of id = Hashtbl.find_opt Globals.values (Units.ident_key id) in
  let parts = List.map Convert.variables (parts_of_function (arity + most_variables) e.exp_type) in
  let inside = List.concat_map Convert.variables (List.filter_map type_of captured) in
  let all = List.sort_uniq compare (inside @ List.concat parts) in
  let is_known v = List.exists (List.mem v) parts in
  if
    (not (List.exists is_known inside || any_applied (arity - 1) parts))
    || List.compare_length_with all most_variables > 0
  then None
  else
    let numbers = List.mapi (fun i id -> (id, i)) all in
    let convert ty = Convert.general s.env numbers ty in
    let capture id =
      (Ident.name id, match type_of id with Some ty -> convert ty | None -> captured_type s id)
    in
    Some (convert e.exp_type, List.map capture captured)

let make s (e : expression) arity =
  let captured = captured_idents s e in
  { unit_name = s.env.u.name; loc = e.exp_loc; arity; general = general s e arity captured;
    captures = List.map (fun id -> (Ident.name id, captured_type s id)) captured;
    ident = Option.value (Hashtbl.find_opt s.names e.exp_loc) ~default:"fun";
    parameters = parameter_types s.env arity e.exp_type }

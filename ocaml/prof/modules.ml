(* What paths of modules, module types and types stand for: an interpreter of module expressions.

   A signature is looked through: of a sealed module the structure is taken, of an application the
   body of the functor with the parameter bound to the argument.  Where that fails the signature
   tells.  It needs neither Env nor a load path. *)

open Units

type env = { u : Units.t; bound : (string * value) list; instance : string }

and value =
  | Structure of env * structure * (env * Types.module_type) option  (** sealed by *)
  | Signature of env * interface * place
  | Closure of env * Ident.t option * body * place
  | Nothing of string

and body = Body of skeleton | Result of Types.module_type

let top u = { u; bound = []; instance = "" }

(* A budget of work: module expressions are programs. *)
exception Exhausted

let budget = ref 0
let renew_budget () = budget := 50_000

let spend () =
  decr budget;
  if !budget < 0 then raise Exhausted

(* Names for people: "Map.Make(String).t"; a structure that is an argument has the name of what its
   application is bound to. *)
let rec name_at env place =
  List.fold_right
    (fun part path ->
      match part with
      | Text name -> if name = "" then path else Names.join path name
      | Argument key -> (
          match List.assoc_opt key env.bound with
          | None -> path
          | Some v when is_anonymous v -> value_name v
          | Some v -> Printf.sprintf "%s(%s)" path (value_name v)))
    place.parts ""

and is_anonymous = function
  | Structure (_, { at; _ }, _) | Signature (_, _, at) -> at.anonymous
  | Closure _ | Nothing _ -> false

and value_name = function
  | Structure (e, { at; _ }, _) | Signature (e, _, at) | Closure (e, _, _, at) -> name_at e at
  | Nothing _ -> "_"

let identities : (string, int) Hashtbl.t = Hashtbl.create 100

let identity value =
  let key =
    match value with
    | Structure (e, { at; _ }, _) -> at.key ^ "@" ^ e.instance
    | Signature (e, _, at) -> at.key ^ ":@" ^ e.instance
    | Closure (e, _, _, at) -> at.key ^ "\\@" ^ e.instance
    | Nothing reason -> "?" ^ reason
  in
  match Hashtbl.find_opt identities key with
  | Some i -> i
  | None ->
      let i = Hashtbl.length identities in
      Hashtbl.add identities key i;
      i

let with_bound env bound =
  let instance =
    String.concat "," (List.map (fun (k, v) -> Printf.sprintf "%s=%d" k (identity v)) bound)
  in
  { env with bound; instance }

let restrict env scope =
  if env.bound = [] || List.for_all (fun (k, _) -> List.mem k scope) env.bound then env
  else with_bound env (List.filter (fun (k, _) -> List.mem k scope) env.bound)

let most_nested_applications = 30
let nested env = List.length env.bound > most_nested_applications

(* The identifiers bound by a signature that is evaluated; those that are known as something better
   stay so. *)
let register u scope at signature =
  let absent table key = not (Hashtbl.mem table key) in
  List.iter
    (fun (item : Types.signature_item) ->
      match item with
      | Sig_type (id, d, _, _) when absent u.types (ident_key id) ->
          Hashtbl.replace u.types (ident_key id) (Declared (d, scope, inside at (Ident.name id)))
      | Sig_module (id, _, md, _, _) when absent u.modules (ident_key id) ->
          Hashtbl.replace u.modules (ident_key id)
            (Parameter (md.md_type, scope, inside at (Ident.name id)))
      | Sig_modtype (id, d, _) when absent u.modtypes (ident_key id) ->
          Hashtbl.replace u.modtypes (ident_key id)
            (Module_type (d.mtd_type, scope, inside at (Ident.name id)))
      | _ -> ())
    signature

let modules_memo : (string, value) Hashtbl.t = Hashtbl.create 1000
let signatures_memo : (string, value) Hashtbl.t = Hashtbl.create 1000

(* [memoised table key f]: what depends on itself is nothing. *)
let memoised table key f =
  match Hashtbl.find_opt table key with
  | Some v -> v
  | None -> (
      Hashtbl.replace table key (Nothing "a cycle");
      match f () with
      | v ->
          Hashtbl.replace table key v;
          v
      | exception e ->
          Hashtbl.remove table key;
          raise e)

(* Signatures that were met, by place. *)
let interfaces : (string, interface) Hashtbl.t = Hashtbl.create 100

let interface_at at signature =
  match Hashtbl.find_opt interfaces at.key with
  | Some i when i.signature == signature -> i
  | _ ->
      let i = { signature; items = components signature } in
      Hashtbl.replace interfaces at.key i;
      i

(* A component of a module, where it is to be understood, and the place of the module. *)
let component value kind name =
  let found env at item = (env, at, item) in
  match value with
  | Structure (e, s, _) -> Option.map (found e s.at) (find_component s.components kind name)
  | Signature (e, i, at) -> Option.map (found e at) (find_component i.items kind name)
  | Closure _ | Nothing _ -> None

let is_known env id =
  let key = ident_key id in
  Hashtbl.mem env.u.modules key || List.mem_assoc key env.bound

let rec resolve env path =
  spend ();
  match Compat.path path with
  | Ident id when Ident.persistent id -> unit_named ~pack:env.u.pack (Ident.name id)
  | Ident id -> (
      let key = ident_key id in
      match List.assoc_opt key env.bound with
      | Some v -> v
      | None -> (
          match Hashtbl.find_opt env.u.modules key with
          | None -> Nothing ("module " ^ Ident.name id)
          | Some entry -> entry_value env key entry))
  | Dot (p, name) -> project (resolve env p) name
  | Applied (f, a) -> apply (resolve env f) (resolve env a)
  | Inline_record -> Nothing "an inline record"

and entry_value env key entry =
  let scope =
    match entry with Bound (_, s) | Parameter (_, s, _) | Module_of (_, _, s) -> s
  in
  let env = restrict env scope in
  memoised modules_memo
    (String.concat ":" [ env.u.name; key; env.instance ])
    (fun () ->
      match entry with
      | Bound (m, _) -> eval env m
      | Parameter (mt, _, at) -> eval_type env at mt
      | Module_of (source, name, _) -> project (eval_source env source) name)

and eval_source env = function
  | Whole -> unit_value env.u
  | Eval m -> eval env m
  | Part (source, name) -> project (eval_source env source) name

and unit_named ~pack name =
  match Units.find ~pack name with Some u -> unit_value u | None -> Nothing ("unit " ^ name)

and unit_value u =
  match (u.implementation, u.interface) with
  | Some s, _ -> Structure (top u, s, None)
  | None, Some i -> Signature (top u, i, u.root)
  | None, None -> Nothing ("unit " ^ u.name)

and project value name =
  spend ();
  match (value, component value 'm' name) with
  | Signature (e, _, at), _ when at == e.u.root && List.mem name e.u.members ->
      let pack = if e.u.pack = "" then e.u.modname else e.u.pack ^ "." ^ e.u.modname in
      unit_named ~pack name
  | Structure _, Some (e, _, Sig_module (id, _, _, _, _)) when is_known e id -> resolve e (Pident id)
  | _, Some (e, at, Sig_module (_, _, md, _, _)) -> eval_type e (inside at name) md.md_type
  | _ -> Nothing (value_name value ^ "." ^ name)

and apply f a =
  spend ();
  match f with
  | Closure (e, _, _, _) when nested e -> Nothing "nested functors"
  | Closure (e, parameter, body, at) -> (
      let env = with_bound e ((parameter_key parameter, a) :: e.bound) in
      match body with Body m -> eval env m | Result mt -> eval_type env at mt)
  | Structure _ | Signature _ | Nothing _ -> Nothing "an application"

and eval env m =
  spend ();
  match m with
  | Path p -> resolve env p
  | Struct s -> Structure (env, s, None)
  | Functor (id, b, at) -> Closure (env, id, Body b, at)
  | Apply (f, a, mt, at) -> (
      let f = eval env f in
      let a = match a with Some a -> eval env a | None -> unit_argument env at in
      match apply f a with Nothing _ -> eval_type env at mt | v -> v)
  | Sealed (m, mt, at) -> (
      match eval env m with
      | Nothing _ -> eval_type env at mt
      | Structure (e, s, _) -> Structure (e, s, Some (env, mt))
      | v -> v)
  | Typed (mt, at) -> eval_type env at mt

(* Each application to [()] makes types of its own, named after what it is bound to. *)
and unit_argument env at =
  Signature (env, { signature = []; items = components [] }, { at with anonymous = true })

and eval_type env at (mt : Types.module_type) =
  spend ();
  match mt with
  | Mty_signature signature ->
      memoised signatures_memo
        (String.concat "@" [ env.u.name; at.key; env.instance ])
        (fun () ->
          register env.u (List.map fst env.bound) at signature;
          Signature (env, interface_at at signature, at))
  | Mty_ident p -> (
      match resolve_type env p with
      | Some (e, mt) -> eval_type e at mt
      | None -> Nothing ("module type " ^ Path.name p))
  | Mty_alias p -> resolve env p
  | Mty_functor (Unit, b) -> Closure (env, None, Result b, at)
  | Mty_functor (Named (id, _), b) -> Closure (env, id, Result b, at)

(* A module type and where it is to be understood. *)
and resolve_type env (path : Path.t) =
  spend ();
  match path with
  | Pident id -> modtype_named env id None
  | Pdot (p, name) -> project_type (resolve env p) name
  | _ -> None

(* The path of a module type, for people. *)
and modtype_name env path =
  match Compat.path path with
  | Ident id -> (
      match Hashtbl.find_opt env.u.modtypes (ident_key id) with
      | Some (Module_type (_, scope, at)) -> name_at (restrict env scope) at
      | _ -> Ident.name id)
  | Dot (p, name) -> Names.join (value_name (resolve env p)) name
  | _ -> Path.name path

and modtype_named env id declared =
  match (Hashtbl.find_opt env.u.modtypes (ident_key id), declared) with
  | Some (Module_type (Some mt, scope, _)), None -> Some (restrict env scope, mt)
  | Some (Modtype_of (source, name, scope)), _ ->
      project_type (eval_source (restrict env scope) source) name
  | _, Some mt -> Some (env, mt)
  | _ -> None

and project_type value name =
  match component value 's' name with
  | Some (e, _, Sig_modtype (id, d, _)) -> modtype_named e id d.mtd_type
  | _ -> None

(* Declarations of types. *)
type declaration = { env : env; decl : Types.type_declaration; key : string; at : place }

let found env u id decl at =
  { env; decl; at; key = String.concat ":" [ u.name; ident_key id; env.instance ] }

let rec find_type env (path : Path.t) =
  spend ();
  match path with
  | Pident id -> type_named env id
  | Pdot (p, name) -> type_in (resolve env p) name
  | _ -> None

and type_named env id =
  match Hashtbl.find_opt env.u.types (ident_key id) with
  | Some (Declared (d, scope, at)) -> Some (found (restrict env scope) env.u id d at)
  | Some (Type_of (source, name, scope)) ->
      spend ();
      type_in (eval_source (restrict env scope) source) name
  | None -> None

and type_in value name =
  spend ();
  match (value, component value 't' name) with
  | Signature _, Some (e, at, Sig_type (id, d, _, _)) ->
      Some (type_in_signature e id d (inside at name))
  | _, Some (e, at, Sig_type (id, d, _, _)) -> (
      match type_named e id with
      | Some _ as it -> it
      | None -> Some (found e e.u id d (inside at name)))
  | _ -> None

(* Several modules may have one signature: its types are then told apart by the module. *)
and type_in_signature e id d at =
  match Hashtbl.find_opt e.u.types (ident_key id) with
  | Some (Declared (_, scope, at')) when at'.key = at.key -> found (restrict e scope) e.u id d at
  | _ ->
      { env = e; decl = d; at; key = String.concat ":" [ e.u.name; at.key; e.instance ] }

(* The type's path, for people: what a unit includes and exports is called as from outside,
   "Lwt.t" and not "Lwt.Public_types.t". *)
let declaration_name d =
  let u = d.env.u in
  let exports name =
    match u.interface with
    | Some i -> find_component i.items 't' name <> None
    | None -> true
  in
  match d.at.parts with
  | Text name :: _ :: _ :: _ when d.env.bound = [] && exports name -> (
      match type_in (unit_value u) name with
      | Some outer when outer.key = d.key -> Names.join (name_at d.env u.root) name
      | _ -> name_at d.env d.at)
  | _ -> name_at d.env d.at

(* Classes: their entry, and where it is to be understood. *)
let rec find_class env path =
  spend ();
  match Compat.path path with
  | Ident id -> class_named env id
  | Dot (p, name) -> class_in (resolve env p) name
  | _ -> None

and class_named env id =
  match Hashtbl.find_opt env.u.classes (ident_key id) with
  | Some (Class { scope; _ } as entry) -> Some (restrict env scope, entry)
  | Some (Class_of (source, name, scope)) ->
      class_in (eval_source (restrict env scope) source) name
  | None -> None

and class_in value name =
  spend ();
  match component value 'c' name with
  | Some (e, _, Sig_class (id, _, _, _)) -> class_named e id
  | _ -> None

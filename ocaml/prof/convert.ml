(* From the compiler's types to terms. *)

open Types
open Modules

(* Types of which no .cmt tells how their values look: they are C's, or made by Obj.magic. *)
let foreign =
  let table = Hashtbl.create 50 in
  let add kind = List.iter (fun name -> Hashtbl.replace table name kind) in
  (* Since 5.4 the slots that a Dynarray has to spare hold an object. *)
  add
    (Terms.Either [ Terms.make (Var 0); Terms.make (Object []) ])
    [ "Stdlib__Dynarray.Dummy.with_dummy" ];
  List.iter
    (fun (base, names) -> add (Terms.Base base) names)
    [ ("custom",
       [ "Stdlib.in_channel"; "Stdlib.out_channel"; "Stdlib__Mutex.t"; "Stdlib__Condition.t";
         "Mutex.t"; "Condition.t"; "Stdlib__Bigarray.Genarray.t"; "Stdlib__Bigarray.Array0.t";
         "Stdlib__Bigarray.Array1.t"; "Stdlib__Bigarray.Array2.t"; "Stdlib__Bigarray.Array3.t" ]);
      ("weak", [ "Stdlib__Weak.t" ]);
      ("ephemeron", [ "Stdlib__Obj.Ephemeron.t"; "Stdlib__Ephemeron.eph"; "Stdlib__Ephemeron.K1.t";
         "Stdlib__Ephemeron.K2.t"; "Stdlib__Ephemeron.Kn.t" ]);
      ("atomic", [ "Stdlib__Atomic.t"; "CamlinternalAtomic.t" ]);
      ("cont",
       [ "Stdlib__Effect.Deep.continuation"; "Stdlib__Effect.Shallow.continuation";
         "Stdlib__Effect.continuation" ]);
      ("string", [ "Unix.inet_addr"; "UnixLabels.inet_addr"; "Stdlib__Digest.t" ]);
      ("any",
       [ "Stdlib__Obj.t"; "Stdlib__Printexc.raw_backtrace"; "CamlinternalOO.t";
         "CamlinternalOO.obj"; "Thread.t"; "Stdlib__Obj.raw_data" ]) ];
  table

(* Ids of types are unique in one frame: a declaration or a unit. *)
type enclosing = { id : int; frame : string; level : int }

(* What holds for one declaration or value. *)
type context = {
  env : env;
  variables : (int * Terms.id) list;  (** what type variables stand for, by their id *)
  frame : string;
  around : enclosing list;  (** types that we are inside of *)
  depth : int;
}

let deepest = 60
let context env variables = { env; variables; frame = env.u.name; around = []; depth = 0 }

(* How many parameters there are in the declaration that is being made. *)
let parameters = ref 0

(* Abbreviations that are being expanded. *)
let expanding : (string, unit) Hashtbl.t = Hashtbl.create 16

(* Loops that were used and are not tied yet, by level. *)
let looped : int list ref = ref []

(* Declarations to be filled in. *)
let pending : (unit -> unit) Queue.t = Queue.create ()
let recursive_types : (Terms.id * int, Terms.decl) Hashtbl.t = Hashtbl.create 16

(* A recursive type without a name becomes an abbreviation with all parameters there are. *)
let tie term level =
  let n = !parameters in
  let key = (term, n) in
  let decl =
    match Hashtbl.find_opt recursive_types key with
    | Some d -> d
    | None ->
        let unique = Printf.sprintf "recursive:%d:%d" term n in
        let d =
          Terms.new_decl ~key:unique ~origin:unique ~is_instance:false ~parameters:n
            ~name:(Terms.outline 0 term) (Abstract "recursive")
        in
        Hashtbl.add recursive_types key d;
        let self = Terms.make (App (d.number, List.init n (fun i -> Terms.make (Var i)))) in
        d.kind <- Alias (Terms.unroll level self term);
        d
  in
  Terms.make (App (decl.number, List.init n (fun i -> Terms.make (Var i))))

let rec enclosing_level id frame = function
  | [] -> None
  | e :: _ when e.id = id && String.equal e.frame frame -> Some e.level
  | _ :: l -> enclosing_level id frame l

(* [in_loop c ty make]: [make] gets the context inside of a type that can contain itself. *)
let in_loop c ty make =
  let id = Compat.type_id ty in
  match enclosing_level id c.frame c.around with
  | Some level ->
      if not (List.mem level !looped) then looped := level :: !looped;
      Terms.make (Loop level)
  | None -> (
      let level = match c.around with [] -> 0 | e :: _ -> e.level + 1 in
      let term = make { c with around = { id; frame = c.frame; level } :: c.around } in
      match !looped with
      | [] -> term
      | levels when not (List.mem level levels) -> term
      | [ _ ] ->
          looped := [];
          tie term level
      | levels ->
          looped := List.filter (fun l -> l <> level) levels;
          Terms.unroll level (Terms.unknown "recursive") term)

let rec convert c ty =
  if c.depth > deepest then Terms.unknown "depth"
  else
    let c = { c with depth = c.depth + 1 } in
    match Compat.desc ty with
    | Variable -> (
        match List.assoc_opt (Compat.type_id ty) c.variables with
        | Some term -> term
        | None -> Terms.make Exist)
    | Poly ty -> convert c ty
    | Package p -> package c p
    | Arrow (l, a, b) ->
        in_loop c ty (fun c ->
            let a = convert c a in
            Terms.make (Arrow (l, a, convert c b)))
    | Tuple l -> in_loop c ty (fun c -> Terms.make (Tuple (List.map (fun (label, t) -> (label, convert c t)) l)))
    | Object (_, Some (p, args)) when is_class_type c p -> constructed c p (List.map (convert c) args)
    | Object (methods, _) -> in_loop c ty (fun c -> object_type c methods)
    | Variant tags ->
        in_loop c ty (fun c ->
            let tags = List.map (fun (tag, t) -> (tag, Option.map (convert c) t)) tags in
            Terms.make (Variant (List.sort compare tags)))
    | Constructed (p, args) -> (
        match args with
        | [] -> constructed c p []
        | _ -> in_loop c ty (fun c -> constructed c p (List.map (convert c) args)))
    | Other -> Terms.unknown "?"

and is_class_type c p =
  match find_type c.env p with
  | Some { decl = { type_manifest = Some _; _ }; _ } -> true
  | _ -> false

and object_type c methods =
  let methods = List.filter (fun (name, _) -> name <> "*dummy method*") methods in
  let methods = List.map (fun (name, ty) -> (name, convert c ty)) methods in
  Terms.make (Object (List.sort compare methods))

and package c p =
  match resolve_type c.env p with
  | Some (e, mt) -> module_type ~depth:(c.depth + 1) e (modtype_name c.env p) mt
  | None -> Terms.unknown ("package " ^ Path.name p)

and constructed c p args =
  match Compat.type_path p with
  | Ident id
    when Ident.is_predef id -> Terms.predefined (Ident.name id) args
  | Inline_record -> Terms.unknown "inline record"
  | view -> (
      match find_type c.env p with
      | Some d -> applied c d args
      | None -> (
          match view with
          | Ident id when not (Ident.persistent id) -> Terms.make Exist
          | _ -> Terms.unknown ("unresolved " ^ Path.name p)))

(* A type constructor applied: abbreviations of anything that has a name are expanded. *)
and applied c d args =
  let known = Hashtbl.find_opt foreign d.at.raw in
  match (known, d.decl.type_manifest) with
  | None, None when d.at.formal && is_abstract d.decl -> Terms.make Exist
  | Some kind, _ -> reference ~kind d args
  | None, Some ty when (not (Hashtbl.mem expanding d.key)) && c.depth < deepest - 20 -> (
      match Compat.desc ty with
      | Constructed _ | Variable | Tuple _ | Arrow _ | Package _ -> (
          let term = expand c d ty args in
          match (Terms.get term, d.decl.type_kind) with
          | Unknown _, (Type_record _ | Type_variant _) -> reference d args
          | _ -> term)
      | _ -> reference d args)
  | None, _ -> reference d args

and is_abstract decl =
  match decl.type_kind with
  | Type_record _ | Type_variant _ | Type_open -> false
  | _ -> decl.type_immediate = Unknown

and expand c d ty args =
  let rec bind parameters args =
    match (parameters, args) with
    | p :: parameters, a :: args -> (Compat.type_id p, a) :: bind parameters args
    | _ -> []
  in
  Hashtbl.add expanding d.key ();
  Fun.protect
    ~finally:(fun () -> Hashtbl.remove expanding d.key)
    (fun () -> let variables = bind d.decl.type_params args in
      convert { c with env = d.env; frame = d.key; variables } ty)

and reference ?kind d args =
  let decl =
    match Terms.find_decl d.key with
    | Some decl -> decl
    | None ->
        let name = declaration_name d in
        let decl =
          Terms.new_decl ~key:d.key ~origin:(origin d) ~is_instance:(d.env.bound <> []) ~name
            ~parameters:d.decl.type_arity
            (Option.value kind ~default:(Terms.Abstract name))
        in
        if kind = None then Queue.add (fun () -> fill decl d) pending;
        decl
  in
  Terms.make (App (decl.number, args))

(* The same in a functor's body and in its instances. *)
and origin d =
  match String.rindex_opt d.key ':' with Some i -> String.sub d.key 0 i | None -> d.key

and fill decl d =
  renew_budget ();
  parameters := decl.parameters;
  looped := [];
  let variables =
    List.mapi (fun i p -> (Compat.type_id p, Terms.make (Var i))) d.decl.type_params
  in
  decl.kind <- declared_kind decl d variables

(* Never raises: what cannot be evaluated is unknown. *)
and guarded : 'a. (unit -> Terms.id) -> Terms.id =
 fun f ->
  try f () with
  | Exhausted -> Terms.unknown "fuel"
  | Stack_overflow -> Terms.unknown "stack"

and in_declaration env variables ty = guarded (fun () -> convert (context env variables) ty)

and declared_kind decl d variables : Terms.kind =
  let fields = List.map (label d.env variables) in
  match d.decl.type_kind with
  | Type_record (l, Record_float) -> Float_record (fields l)
  | Type_record ([ l ], r) when Compat.is_unboxed r ->
      Unboxed (Ident.name l.ld_id, in_declaration d.env variables l.ld_type, None)
  | Type_record (l, _) -> Record (fields l)
  | Type_variant (l, representation) -> (
      let constructors = List.map (constructor d.env variables) l in
      match (representation, constructors) with
      | Variant_unboxed, [ { con_name; result; fields = [ f ]; _ } ] ->
          Unboxed (con_name, f.term, result)
      | _ -> Sum constructors)
  | Type_open -> Extensible
  | _ -> (
      match d.decl.type_manifest with
      | Some ty -> Alias (in_declaration d.env variables ty)
      | None when d.decl.type_immediate <> Unknown -> Base "int"
      | None -> (
          match if d.env.bound = [] then hidden d variables else None with
          | Some term -> Unboxed ("", term, None)
          | None -> Abstract decl.decl_name))

(* An abstract type that hides a record or a variant of its own unit: the unit turns one into the
   other by functions that do nothing.  What it turns several types into is none of them. *)
and hidden d variables =
  let own p =
    match find_type d.env p with
    | Some ({ decl = { type_kind = Type_record _ | Type_variant _; _ }; _ } as other)
      when other.env.u == d.env.u && other.env.bound = [] -> Some other
    | _ -> None
  in
  let is_it p = match find_type d.env p with Some other -> other.key = d.key | None -> false in
  let variable ty = match Compat.desc ty with Variable -> true | _ -> false in
  let candidate ty =
    let pair outer inner =
      match (Compat.desc outer, Compat.desc inner) with
      | Constructed (p, parameters), Constructed (q, _) when is_it p -> (
          match own q with
          | Some other -> Some (other.key, (parameters, inner))
          | None -> Some ("", (parameters, inner)))
      | Constructed (p, parameters), _ when is_it p -> Some ("", (parameters, inner))
      | _ -> None
    in
    match Compat.desc ty with
    | Arrow ("", a, b) -> ( match pair b a with None -> pair a b | it -> it)
    | _ -> None
  in
  match List.filter_map candidate d.env.u.identities with
  | (key, (parameters, inner)) :: rest
    when key <> "" && List.for_all (fun (k, _) -> k = key) rest
         && List.for_all variable parameters
         && List.length parameters = List.length variables ->
      let variables = List.map2 (fun p (_, term) -> (Compat.type_id p, term)) parameters variables in
      Some (in_declaration d.env variables inner)
  | _ -> None

and label env variables (l : Types.label_declaration) : Terms.field =
  let mutability : Terms.mutability =
    match l.ld_mutable with
    | Immutable -> Immutable
    | Mutable -> if Compat.is_atomic l then Atomic else Mutable
  in
  { name = Ident.name l.ld_id; mutability;
    term = in_declaration env variables l.ld_type }

and arguments env variables = function
  | Cstr_record l -> (List.map (label env variables) l, true)
  | Cstr_tuple l ->
      let field ty : Terms.field =
        { name = ""; mutability = Immutable; term = in_declaration env variables ty }
      in
      (List.map field l, false)

and constructor env variables c : Terms.constructor =
  let result, variables =
    match c.cd_res with
    | None -> (None, variables)
    | Some ty ->
        let variables, args = gadt_result ty in
        (Some (List.map (in_declaration env variables) args), variables)
  in
  let fields, is_record = arguments env variables c.cd_args in
  { con_name = Ident.name c.cd_id; result; fields; is_record }

(* The variables of a GADT's constructor are numbered as its result type has them; all others are
   existential. *)
and gadt_result ty =
  let variables = ref [] in
  let rec scan depth ty =
    if depth < deepest then
      match Compat.desc ty with
      | Variable ->
          let id = Compat.type_id ty in
          if not (List.mem_assoc id !variables) then
            variables := (id, Terms.make (Var (List.length !variables))) :: !variables
      | Constructed (_, l) -> List.iter (scan (depth + 1)) l
      | Tuple l -> List.iter (fun (_, t) -> scan (depth + 1) t) l
      | Arrow (_, a, b) ->
          scan (depth + 1) a;
          scan (depth + 1) b
      | Variant tags -> List.iter (fun (_, t) -> Option.iter (scan (depth + 1)) t) tags
      | _ -> ()
  in
  let args = match Compat.desc ty with Constructed (_, l) -> l | _ -> [] in
  List.iter (scan 0) args;
  (!variables, args)

(* Layouts of blocks of modules. *)
and module_type ~depth env name (mt : module_type) =
  if depth > deepest then Terms.unknown "depth"
  else
    match mt with
    | Mty_signature signature -> signature_block ~depth env name signature
    | Mty_functor _ -> functor_term ()
    | Mty_ident p -> (
        match resolve_type env p with
        | Some (env, mt) -> module_type ~depth:(depth + 4) env name mt
        | None -> Terms.unknown ("module type " ^ Path.name p))
    | Mty_alias p -> value_block ~depth (resolve env p)

and functor_term () =
  let any = Terms.make Exist in
  Terms.make (Arrow ("", any, any))

(* The block of a module is that of its signature, after sealing. *)
and value_block ~depth value =
  match value with
  | Structure (_, _, Some (env, mt)) -> module_type ~depth:(depth + 4) env (value_name value) mt
  | Structure (env, s, None) ->
      let signature =
        match env.u.interface with
        | Some i when s.at == env.u.root -> i.signature
        | _ -> s.signature
      in
      signature_block ~depth:(depth + 4) env (value_name value) signature
  | Signature (env, i, _) -> signature_block ~depth:(depth + 4) env (value_name value) i.signature
  | Closure _ -> functor_term ()
  | Nothing reason -> Terms.unknown reason

and signature_block ~depth env name signature =
  let fields =
    List.filter_map
      (fun item ->
        let id = signature_item_id item in
        match item with
        | Sig_value (_, { val_kind = Val_prim _; _ }, _) -> None
        | Sig_value (_, v, _) ->
            Some (Ident.name id, convert { (context env []) with depth = depth + 1 } v.val_type)
        | Sig_typext _ -> Some (Ident.name id, Terms.predefined "extension_constructor" [])
        | Sig_module (_, Mp_present, md, _, _) ->
            let name = Names.join name (Ident.name id) in
            Some (Ident.name id, module_type ~depth:(depth + 4) env name md.md_type)
        | Sig_class _ -> Some (Ident.name id, class_block ())
        | _ -> None)
      signature
  in
  Terms.module_block name fields

(* What Translclass makes of a class, and CamlinternalOO of it: seen with 4.13, 4.14, 5.1 and
   5.3; Translclass of 5.4 and 5.5 is that of 5.3. *)
and class_block () =
  let any = Terms.make Exist in
  match String.split_on_char '.' Sys.ocaml_version with
  | "5" :: "2" :: _ -> any
  | "5" :: ("3" | "4" | "5") :: _ ->
      Terms.module_block "class" [ ("object", any); ("init", any); ("env", any) ]
  | _ -> Terms.module_block "class" [ ("object", any); ("init", any); ("class", any); ("env", any) ]

let fill_pending () =
  while not (Queue.is_empty pending) do
    (Queue.pop pending) ()
  done

(* For values, whose types have no parameters. *)
let start () =
  renew_budget ();
  parameters := 0;
  looped := []

let in_unit f =
  start ();
  guarded f

(* Of one unit: the same type is that of many expressions. *)
let values : (int, Terms.id) Hashtbl.t = Hashtbl.create 1000
let forget_values () = Hashtbl.reset values

let value env ty =
  let id = Compat.type_id ty in
  match Hashtbl.find_opt values id with
  | Some term -> term
  | None ->
      let term = in_unit (fun () -> convert (context env []) ty) in
      Hashtbl.add values id term;
      term

(* Types that have variables in common: [numbers] are theirs.  Nothing is kept, as they are others
   the next time. *)
let general env numbers ty =
  start ();
  parameters := List.length numbers;
  let variables = List.map (fun (id, i) -> (id, Terms.make (Var i))) numbers in
  guarded (fun () -> convert (context env variables) ty)

(* The variables in a type, each once. *)
let variables ty =
  let seen = Hashtbl.create 16 and found = ref [] in
  let rec scan ty =
    let id = Compat.type_id ty in
    if not (Hashtbl.mem seen id) then begin
      Hashtbl.add seen id ();
      match Compat.desc ty with
      | Variable -> found := id :: !found
      | Poly ty -> scan ty
      | Arrow (_, a, b) ->
          scan a;
          scan b
      | Constructed (_, l) -> List.iter scan l
      | Tuple l -> List.iter (fun (_, t) -> scan t) l
      | Object (methods, name) ->
          List.iter (fun (_, ty) -> scan ty) methods;
          Option.iter (fun (_, l) -> List.iter scan l) name
      | Variant tags -> List.iter (fun (_, ty) -> Option.iter scan ty) tags
      | Package _ | Other -> ()
    end
  in
  scan ty;
  List.rev !found

let module_value env name mt = in_unit (fun () -> module_type ~depth:0 env name mt)

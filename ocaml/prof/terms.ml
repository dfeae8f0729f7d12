(* Type terms, each with a number; declarations of type constructors; layouts of module blocks. *)

type id = int

type term =
  | Unknown of string
  | Exist
  | Var of int
  | App of int * id list
  | Tuple of (string * id) list  (** with labels, "" none *)
  | Arrow of string * id * id
  | Variant of (string * id option) list
  | Object of (string * id) list
  | Module of int
  | Loop of int  (** only while a recursive type is being made: the type that many levels out *)

type mutability = Immutable | Mutable | Atomic

type field = { name : string; term : id; mutability : mutability }

type constructor = {
  con_name : string;
  result : id list option;  (** of GADTs *)
  fields : field list;
  is_record : bool;
}

type kind =
  | Base of string
  | Alias of id
  | Record of field list
  | Float_record of field list
  | Unboxed of string * id * id list option
  | Either of id list
  | Sum of constructor list
  | Extensible
  | Abstract of string

type decl = {
  number : int;
  decl_name : string;
  parameters : int;
  origin : int;
  is_instance : bool;
  mutable kind : kind;
}

(* Numbered things, in the order of their making. *)
module Table = struct
  type 'a t = { mutable items : 'a array; mutable count : int }

  let create () = { items = [||]; count = 0 }
  let get t i = t.items.(i)

  let add t x =
    if t.count = Array.length t.items then
      t.items <- Array.append t.items (Array.make (max 256 t.count) x);
    t.items.(t.count) <- x;
    t.count <- t.count + 1;
    t.count - 1

  let iteri f t =
    for i = 0 to t.count - 1 do
      f i t.items.(i)
    done
end

let terms : term Table.t = Table.create ()
let numbers : (term, id) Hashtbl.t = Hashtbl.create 10_000

let make term =
  match Hashtbl.find_opt numbers term with
  | Some i -> i
  | None ->
      let i = Table.add terms term in
      Hashtbl.add numbers term i;
      i

let get i = Table.get terms i
let unknown reason = make (Unknown reason)

(* Declarations have a key: what the program declares, and with which arguments of functors. *)
let decls : decl Table.t = Table.create ()
let decls_by_key : (string, decl) Hashtbl.t = Hashtbl.create 1000
let origins : (string, int) Hashtbl.t = Hashtbl.create 1000

let origin_number origin =
  match Hashtbl.find_opt origins origin with
  | Some i -> i
  | None ->
      let i = Hashtbl.length origins in
      Hashtbl.add origins origin i;
      i

let find_decl key = Hashtbl.find_opt decls_by_key key

let new_decl ~key ~origin ~is_instance ~name ~parameters kind =
  let d =
    { number = decls.count; decl_name = name; parameters; is_instance; kind;
      origin = origin_number origin }
  in
  ignore (Table.add decls d);
  Hashtbl.replace decls_by_key key d;
  d

let predef_key name = "predef:" ^ name

let predef ?(parameters = 0) name kind =
  let key = predef_key name in
  new_decl ~key ~origin:key ~is_instance:false ~name ~parameters kind

let () =
  let base ?parameters ?(is = "") name =
    ignore (predef ?parameters name (Base (if is = "" then name else is)))
  in
  List.iter (fun name -> base name)
    [ "int"; "char"; "bool"; "unit"; "string"; "bytes"; "float"; "int32"; "int64"; "nativeint";
      "exn"; "floatarray" ];
  base ~parameters:1 "array";
  base ~parameters:1 ~is:"array" "iarray";
  base ~parameters:1 ~is:"lazy" "lazy_t";
  base ~is:"extcon" "extension_constructor";
  base ~parameters:2 ~is:"cont" "continuation";
  ignore (predef ~parameters:1 "eff" Extensible);
  let field name term = { name; term; mutability = Immutable } in
  let con con_name fields = { con_name; fields; result = None; is_record = false } in
  let a = make (Var 0) in
  ignore (predef ~parameters:1 "option" (Sum [ con "None" []; con "Some" [ field "" a ] ]));
  let list = predef ~parameters:1 "list" (Abstract "list") in
  let tail = make (App (list.number, [ a ])) in
  list.kind <- Sum [ con "[]" []; con "::" [ field "" a; field "" tail ] ]

let predefined name arguments =
  match find_decl (predef_key name) with
  | Some d -> make (App (d.number, arguments))
  | None -> unknown ("predefined " ^ name)

(* A type in OCaml's syntax, down to some depth and "_" below: a name for what has none. *)
let rec outline depth t =
  let sub = outline (depth + 1) in
  let all separator f l = String.concat separator (List.map f l) in
  match get t with
  | _ when depth > 3 -> "_"
  | Unknown _ | Exist | Loop _ -> "_"
  | Var n -> Printf.sprintf "'%c" (Char.chr (97 + (n mod 26)))
  | App (d, []) -> (Table.get decls d).decl_name
  | App (d, [ a ]) -> sub a ^ " " ^ (Table.get decls d).decl_name
  | App (d, l) -> Printf.sprintf "(%s) %s" (all ", " sub l) (Table.get decls d).decl_name
  | Tuple l ->
      let part (label, t) = if label = "" then sub t else label ^ ":" ^ sub t in
      Printf.sprintf "(%s)" (all " * " part l)
  | Arrow (_, a, b) -> Printf.sprintf "(%s -> %s)" (sub a) (sub b)
  | Module _ -> "module"
  | Variant l ->
      let tag (name, t) =
        match t with None -> "`" ^ name | Some t -> Printf.sprintf "`%s of %s" name (sub t)
      in
      Printf.sprintf "[ %s ]" (all " | " tag l)
  | Object l -> Printf.sprintf "< %s >" (all "; " (fun (name, t) -> name ^ " : " ^ sub t) l)

(* Replaces [Loop level], seen from outside all binders, by [by]. *)
let unroll level by term =
  let memo = Hashtbl.create 16 in
  let rec go t =
    match Hashtbl.find_opt memo t with
    | Some r -> r
    | None ->
        let r =
          match get t with
          | Loop l -> if l = level then by else t
          | Unknown _ | Exist | Var _ | Module _ -> t
          | App (d, l) -> make (App (d, List.map go l))
          | Tuple l -> make (Tuple (List.map (fun (label, t) -> (label, go t)) l))
          | Arrow (l, a, b) ->
              let a = go a in
              make (Arrow (l, a, go b))
          | Variant l -> make (Variant (List.map (fun (s, t) -> (s, Option.map go t)) l))
          | Object l -> make (Object (List.map (fun (s, t) -> (s, go t)) l))
        in
        Hashtbl.add memo t r;
        r
  in
  go term

(* Layouts are told apart by their names, too. *)
type layout = { layout_name : string; layout_fields : (string * id) list }

let layouts : layout Table.t = Table.create ()
let layout_numbers : (layout, int) Hashtbl.t = Hashtbl.create 100

let module_block layout_name layout_fields =
  let layout = { layout_name; layout_fields } in
  match Hashtbl.find_opt layout_numbers layout with
  | Some i -> make (Module i)
  | None ->
      let i = Table.add layouts layout in
      Hashtbl.add layout_numbers layout i;
      make (Module i)

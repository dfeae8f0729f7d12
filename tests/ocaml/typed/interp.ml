(* An interpreter as people write them: lexer, parser, environments, values that are closures. *)
open Truth

type token =
  | Int of int
  | Name of string
  | String of string
  | Symbol of char
  | Keyword of keyword

and keyword = Let | In | Fun | If | Then | Else

type position = { line : int; column : int }
type 'a located = { it : 'a; at : position }

type expr = expr_desc located

and expr_desc =
  | Constant of constant
  | Variable of string
  | Function of { parameters : pattern list; body : expr }
  | Apply of expr * expr
  | Let_in of pattern * expr * expr
  | Condition of expr * expr * expr
  | Tuple of expr list

and constant = Number of int | Text of string | Real of float
and pattern = Wildcard | Bind of string | Both of pattern * pattern

type ty = Arrow of ty * ty | Base of string | Variable_ty of ty_var ref | Product of ty array
and ty_var = Unbound of int | Link of ty

module Env = Map.Make (String)

type value =
  | Atom of constant
  | Closure of value Env.t * pattern list * expr
  | Primitive of string * (value list -> (value, error) result)
  | Vector of value array
  | Promise of value Lazy.t

and error = { message : string; where : position option; notes : (string * value) list }

type state = {
  mutable globals : value Env.t;
  tokens : token located Queue.t;
  types : (string, ty) Hashtbl.t;
  errors : error Stack.t;
  hooks : (string, value -> unit) Hashtbl.t;
  mutable steps : int;
}

let position i = { line = i / 20; column = i mod 20 }
let locate i it = { it; at = position i }

let lex text =
  let queue = Queue.create () in
  String.split_on_char ' ' text
  |> List.iteri (fun i word ->
         let token =
           match word with
           | "let" -> Keyword Let
           | "in" -> Keyword In
           | "fun" -> Keyword Fun
           | "if" -> Keyword If
           | "then" -> Keyword Then
           | "else" -> Keyword Else
           | _ when String.length word = 1 && not (word.[0] >= 'a' && word.[0] <= 'z') -> Symbol word.[0]
           | _ -> (
             match int_of_string_opt word with
             | Some n -> Int n
             | None -> if String.length word > 4 then String word else Name word)
         in
         Queue.add (locate i token) queue);
  queue

let rec build depth i =
  let e desc = locate i desc in
  if depth = 0 then
    e
      (match i mod 4 with
      | 0 -> Variable ("v" ^ string_of_int i)
      | 1 -> Constant (Number i)
      | 2 -> Constant (Real (float_of_int i))
      | _ -> Constant (Text (string_of_int i)))
  else
    e
      (match (i + depth) mod 5 with
      | 0 -> Function { parameters = [ Bind ("p" ^ string_of_int i); Both (Wildcard, Bind "q") ]; body = build (depth - 1) i }
      | 1 -> Apply (build (depth - 1) (i + 1), build (depth - 1) (i + 2))
      | 2 -> Let_in (Bind ("x" ^ string_of_int i), build (depth - 1) i, build (depth - 1) (i + 3))
      | 3 -> Condition (build (depth - 1) i, build 0 1, build (depth - 1) (i + 1))
      | _ -> Tuple (List.init 3 (build (depth - 1))))

let rec bind env pattern value =
  match (pattern, value) with
  | Wildcard, _ -> env
  | Bind name, _ -> Env.add name value env
  | Both (a, b), Vector [| x; y |] -> bind (bind env a x) b y
  | Both (a, b), _ -> bind (bind env a value) b value

let rec eval state env expr =
  state.steps <- state.steps + 1;
  match expr.it with
  | Constant c -> Atom c
  | Variable name -> ( try Env.find name env with Not_found -> Atom (Text name))
  | Function { parameters; body } -> Closure (env, parameters, body)
  | Apply (f, x) -> (
    match eval state env f with
    | Closure (inner, pattern :: _, body) -> eval state (bind inner pattern (eval state env x)) body
    | Primitive (_, run) -> (
      match run [ eval state env x ] with
      | Ok v -> v
      | Error e -> Stack.push { e with where = Some expr.at } state.errors; Vector [||])
    | v ->
      Stack.push { message = "not a function"; where = Some expr.at; notes = [ ("value", v) ] } state.errors;
      v)
  | Let_in (p, e, body) -> eval state (bind env p (eval state env e)) body
  | Condition (c, a, b) -> ( match eval state env c with Atom (Number 0) -> eval state env b | _ -> Promise (lazy (eval state env a)))
  | Tuple l -> Vector (Array.of_list (List.map (eval state env) l))

let rec infer state expr =
  match expr.it with
  | Constant (Number _) -> Base "int"
  | Constant (Text _) -> Base "string"
  | Constant (Real _) -> Base "real"
  | Variable name -> (
    match Hashtbl.find_opt state.types name with
    | Some ty -> ty
    | None ->
      let ty = Variable_ty (ref (Unbound state.steps)) in
      state.steps <- state.steps + 1;
      Hashtbl.add state.types name ty;
      ty)
  | Function { body; _ } -> Arrow (Variable_ty (ref (Unbound 0)), infer state body)
  | Apply (f, x) -> (
    let argument = infer state x in
    match infer state f with
    | Arrow (Variable_ty ({ contents = Unbound _ } as r), result) -> r := Link argument; result
    | other -> other)
  | Let_in (_, _, body) -> infer state body
  | Condition (_, a, _) -> infer state a
  | Tuple l -> Product (Array.of_list (List.map (infer state) l))

let primitive name f = (name, Primitive (name, f))

let state =
  let tokens = lex "let square = fun numbers -> numbers * numbers in if square 12 then 1 else another + 2 in let x = yes" in
  let state =
    { globals = Env.empty; tokens; types = Hashtbl.create 8; errors = Stack.create (); hooks = Hashtbl.create 4; steps = 0 }
  in
  List.iter
    (fun (name, p) -> state.globals <- Env.add name p state.globals)
    [
      primitive "fail" (fun notes -> Error { message = "failed"; where = None; notes = List.map (fun v -> ("argument", v)) notes });
      primitive "same" (function v :: _ -> Ok v | [] -> Ok (Vector [||]));
    ];
  state

let programs = List.init 40 (fun i -> build (3 + (i mod 3)) i)

let () =
  List.iteri
    (fun i p ->
      let name = "v" ^ string_of_int i in
      state.globals <- Env.add name (eval state state.globals p) state.globals;
      Hashtbl.replace state.types name (infer state p);
      if i mod 4 = 0 then Hashtbl.replace state.hooks name (fun v -> state.globals <- Env.add name v state.globals))
    programs

let history = List.map (fun p -> (p.at, infer state p, eval state state.globals p)) programs

(* What they are. *)

let position_t = typ "Interp.position" (fun { line; column } -> [ line @: int; column @: int ])
let located_t a = typ1 "Interp.located" a (fun { it; at } -> [ it @: a; at @: position_t ])
let token_t = typ "Interp.token" (function Name s | String s -> [ s @: string ] | _ -> [])

let constant_t =
  typ "Interp.constant" (function Number _ -> [] | Text s -> [ s @: string ] | Real f -> [ f @: float ])

let rec pattern_t =
  lazy
    (typ "Interp.pattern" (function
      | Wildcard -> []
      | Bind s -> [ s @: string ]
      | Both (a, b) -> [ a @: Lazy.force pattern_t; b @: Lazy.force pattern_t ]))

let pattern_t = Lazy.force pattern_t

let rec desc_t =
  lazy
    (let e expr = expr @: located_t (Lazy.force desc_t) in
     typ "Interp.expr_desc" (function
       | Constant c -> [ c @: constant_t ]
       | Variable s -> [ s @: string ]
       | Function { parameters; body } -> [ parameters @: list pattern_t; e body ]
       | Apply (f, x) -> [ e f; e x ]
       | Let_in (p, a, b) -> [ p @: pattern_t; e a; e b ]
       | Condition (a, b, c) -> [ e a; e b; e c ]
       | Tuple l -> [ l @: list (located_t (Lazy.force desc_t)) ]))

let expr_t = located_t (Lazy.force desc_t)

let rec ty_t =
  lazy
    (let t = fun ty -> ty @: Lazy.force ty_t in
     typ "Interp.ty" (function
       | Arrow (a, b) -> [ t a; t b ]
       | Base s -> [ s @: string ]
       | Variable_ty r -> [ r @: reference (Lazy.force var_t) ]
       | Product l -> [ l @: array (Lazy.force ty_t) ]))

and var_t = lazy (typ "Interp.ty_var" (function Unbound _ -> [] | Link t -> [ t @: Lazy.force ty_t ]))

let rec value_t =
  lazy
    (typ "Interp.value" (function
      | Atom c -> [ c @: constant_t ]
      | Closure (env, p, e) -> [ env @: env_t (Lazy.force value_t); p @: list pattern_t; e @: expr_t ]
      | Primitive (name, f) ->
        [ name @: string; f @: (list (Lazy.force value_t) --> result (Lazy.force value_t) (Lazy.force error_t)) ]
      | Vector l -> [ l @: array (Lazy.force value_t) ]
      | Promise l -> [ l @: lazy_t (Lazy.force value_t) ]))

and env_t a = map_as "Map.Make(String).t" string a

and error_t =
  lazy
    (typ "Interp.error" (fun { message; where; notes } ->
         [ message @: string; where @: option position_t; notes @: list (pair string (Lazy.force value_t)) ]))

let value_t = Lazy.force value_t
let ty_t = Lazy.force ty_t

let state_t =
  typ "Interp.state" (fun s ->
      [
        s.globals @: env_t value_t; s.tokens @: queue (located_t token_t); s.types @: hashtbl string ty_t;
        s.errors @: stack (Lazy.force error_t); s.hooks @: hashtbl string (value_t --> unit);
      ])

let () =
  known state_t state;
  known (list expr_t) programs;
  known (list (triple position_t ty_t value_t)) history;
  report ()

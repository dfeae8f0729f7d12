(* A program of one file, this and truth.ml before it, in its loop at top level: what it keeps is in
   values of a module whose code has not ended. *)
open Truth

type address = { host : string; port : int }
type session = { id : int; user : string; mutable last : request option; mutable seen : address list }
and request = Get of string * session | Put of { path : string; body : bytes; by : session } | Quit

type config = { root : string; limits : (string * int) list; mutable verbose : bool; origin : address }
type tree = Leaf | Node of tree * string * tree
type statistics = { mutable hits : int; mutable load : float; slowest : request option array }

let address_t = typ "Server.address" (fun { host; port } -> [ host @: string; port @: int ])

let rec session_t =
  lazy
    (typ "Server.session" (fun { id; user; last; seen } ->
         [ id @: int; user @: string; last @: option (Lazy.force request_t); seen @: list address_t ]))

and request_t =
  lazy
    (typ "Server.request" (function
      | Get (path, by) -> [ path @: string; by @: Lazy.force session_t ]
      | Put { path; body; by } -> [ path @: string; body @: bytes; by @: Lazy.force session_t ]
      | Quit -> []))

let session_t = Lazy.force session_t
let request_t = Lazy.force request_t

let config_t =
  typ "Server.config" (fun { root; limits; verbose; origin } ->
      [
        root @: string; limits @: list (pair string int); verbose @: bool; origin @: address_t;
      ])

let rec tree_t =
  lazy
    (typ "Server.tree" (function
      | Leaf -> []
      | Node (l, word, r) -> [ l @: Lazy.force tree_t; word @: string; r @: Lazy.force tree_t ]))

let tree_t = Lazy.force tree_t

let statistics_t =
  typ "Server.statistics" (fun { hits; load = _; slowest } ->
      [ hits @: int; slowest @: array (option request_t) ])

let text i = "text " ^ string_of_int i
let address i = { host = text i; port = i }
let here = { host = text 0; port = 80 }
let config = { root = text 1; limits = [ (text 2, 3); (text 4, 5) ]; verbose = false; origin = here }
let sessions : (int, session) Hashtbl.t = Hashtbl.create 16
let waiting : request Queue.t = Queue.create ()
let undone : (int * request) Stack.t = Stack.create ()
let log : string list ref = ref []
let last_error : (int * string) option ref = ref None
let grown : (int * tree) list ref = ref []
let current : session option ref = ref None
let statistics = { hits = 0; load = 0.; slowest = Array.make 8 None }

let rec grow depth n =
  if depth = 0 then Leaf else Node (grow (depth - 1) (2 * n), text n, grow (depth - 1) ((2 * n) + 1))

let words = grow 6 1
let same_words = words
let both = (words, [| words |])
let few, many = (grow 2 1000, grow 5 2000)

let next_id =
  let last = ref 0 in
  fun () -> incr last; !last

let handlers : (string * (request -> bool)) list ref = ref []
let fallback = fun by path -> Put { path; body = Bytes.make 20 'b'; by }
let output = stdout
let load = float_of_int (Array.length Sys.argv) *. 2.5
let started = Some (Sys.time () +. 1.)
let names = Array.init 50 text
let rows = Array.init 20 (fun i -> Array.init (i + 1) (fun k -> float_of_int (i * k)))
let pending = Bytes.make 100 'p'

module By_name = Map.Make (String)

let index : session By_name.t ref = ref By_name.empty

module Store = struct
  type entry = { key : string; mutable values : int list }

  let entries : entry list ref = ref []
  let by_key : (string, entry) Hashtbl.t = Hashtbl.create 4

  let add key value =
    match Hashtbl.find_opt by_key key with
    | Some entry -> entry.values <- value :: entry.values
    | None ->
      let entry = { key; values = [ value ] } in
      entries := entry :: !entries;
      Hashtbl.add by_key key entry

  module Old = struct
    let kept = Array.init 10 (fun i -> { key = text i; values = [ i; i ] })
  end

  let entry_t = typ "Server.Store.entry" (fun { key; values } -> [ key @: string; values @: list int ])
end

module type Element = sig
  type t

  val make : int -> t
  val ty : t ty
end

module Pool (E : Element) = struct
  let free : E.t list ref = ref []
  let all = Array.init 10 E.make
  let () = Array.iteri (fun i e -> if i mod 2 = 0 then free := e :: !free) all
end

module Addresses = Pool (struct
  type t = address

  let make = address
  let ty = address_t
end)

let later = lazy (text (Array.length Sys.argv), here)
let forced = lazy (List.init (Array.length Sys.argv + 5) address)
let () = ignore (Lazy.force forced)

(* What follows is not known by code alone: it depends on what was done before. *)
let oldest = if Array.length Sys.argv > 100 then None else Some (address 7)
let tags = try List.assoc (text 2) [ (text 2, [ text 9 ]) ] with Not_found -> []

let level =
  match Array.length Sys.argv with
  | 0 -> `Low (text 0)
  | 1 -> `Middle (text 1, 1)
  | 2 -> `High [ text 2 ]
  | 3 -> `Low (text 3)
  | 4 -> `Middle (text 4, 4)
  | _ -> `None

let level_t =
  variant
    [ ("High", Some "string list"); ("Low", Some "string"); ("Middle", Some "string * int"); ("None", None) ]
    (function
      | `Low s -> [ s @: string ]
      | `Middle (s, i) -> [ s @: string; i @: int ]
      | `High l -> [ l @: list string ]
      | `None -> [])

let serve round =
  let session =
    { id = next_id (); user = text round; last = None; seen = List.init (round mod 4) address }
  in
  let request = if round mod 3 = 0 then fallback session (text round) else Get (text round, session) in
  session.last <- Some request;
  Hashtbl.replace sessions session.id session;
  Queue.add request waiting;
  if round mod 10 = 0 then Stack.push (round, request) undone;
  index := By_name.add session.user session !index;
  log := text round :: !log;
  grown := (round, grow 3 round) :: !grown;
  current := Some session;
  last_error := Some (round, text round);
  statistics.hits <- statistics.hits + 1;
  statistics.slowest.(round mod 8) <- Some request;
  Store.add (text (round mod 7)) round;
  if round = 5 then handlers := (text 5, fun r -> r == request) :: !handlers;
  if config.verbose then ignore later

let tell () =
  known address_t here;
  known config_t config;
  known (hashtbl int session_t) sessions;
  known (queue request_t) waiting;
  known (stack (pair int request_t)) undone;
  known (reference (list string)) log;
  known (reference (list (pair int tree_t))) grown;
  known (reference (option (pair int string))) last_error;
  known (reference (option session_t)) current;
  known statistics_t statistics;
  known tree_t words;
  known tree_t same_words;
  known (pair tree_t (array tree_t)) both;
  known tree_t few;
  known tree_t many;
  known (reference (list (pair string (request_t --> bool)))) handlers;
  known (opaque "out_channel" : out_channel ty) output;
  known float load;
  known (option float) started;
  known (array string) names;
  known (array (array float)) rows;
  known bytes pending;
  known (reference (map_as "Map.Make(String).t" string session_t)) index;
  known (reference (list Store.entry_t)) Store.entries;
  known (hashtbl string Store.entry_t) Store.by_key;
  known (array Store.entry_t) Store.Old.kept;
  known (reference (list address_t)) Addresses.free;
  known (array address_t) Addresses.all;
  known (list address_t) (Lazy.force forced);
  known (option address_t) oldest;
  known (list string) tags;
  known level_t level

let () =
  let round = ref 0 in
  while true do
    incr round;
    serve !round;
    if !round = 200 then begin
      tell ();
      report ()
    end
  done

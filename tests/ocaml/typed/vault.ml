open Truth

type key = { number : int; spelled : string }
type 'a drawer = { label : key; content : 'a; below : 'a drawer option }
type 'a t = { front : 'a list; top : 'a drawer option; count : int }
type id = string
type token = Word of { place : int; letters : string } | Number of float | End

let kept_back = ref [ "never"; "exported" ]
let numbers = Array.init 5 (fun i -> (i, string_of_int i))
let empty () = { front = []; top = None; count = 0 }

let put label content { front; top; count } =
  { front = content :: front; top = Some { label; content; below = top }; count = count + 1 }

let key number = { number; spelled = "key " ^ string_of_int number }
let id n = "id " ^ string_of_int n

let token n =
  match n mod 3 with
  | 0 -> Word { place = n; letters = "word " ^ string_of_int n }
  | 1 -> Number (float_of_int n)
  | _ -> End

let key_ty = typ "Vault.key" (fun { number; spelled } -> [ number @: int; spelled @: string ])

let rec drawer_ty a =
  typ1 "Vault.drawer" a (fun { label; content; below } ->
      [ label @: key_ty; content @: a; below @: option (drawer_ty a) ])

let t_ty a =
  typ1 "Vault.t" a (fun { front; top; count } ->
      [ front @: list a; top @: option (drawer_ty a); count @: int ])

let id_ty = string

let token_ty =
  typ "Vault.token" (function
    | Word { letters; _ } -> [ letters @: string ]
    | Number f -> [ f @: float ]
    | End -> [])

let () =
  kept_back := string_of_int (List.length !kept_back) :: !kept_back;
  later (fun () -> [ !kept_back @: list string; numbers @: array (pair int string) ])

module type ORDERED = sig
  type t

  val compare : t -> t -> int
end

module Heap (E : ORDERED) = struct
  type t = Nothing | Tree of { least : E.t; rank : int; left : t; right : t }

  let empty = Nothing
  let rank = function Nothing -> 0 | Tree t -> t.rank

  let make least a b =
    if rank a >= rank b then Tree { least; rank = rank b + 1; left = a; right = b }
    else Tree { least; rank = rank a + 1; left = b; right = a }

  let rec merge a b =
    match (a, b) with
    | Nothing, t | t, Nothing -> t
    | Tree s, Tree t ->
      if E.compare s.least t.least <= 0 then make s.least s.left (merge s.right b)
      else make t.least t.left (merge a t.right)

  let add least t = merge (Tree { least; rank = 1; left = Nothing; right = Nothing }) t

  let ty path element =
    let rec ty =
      lazy
        (typ path (function
          | Nothing -> []
          | Tree { least; left; right; _ } ->
            [ least @: element; left @: Lazy.force ty; right @: Lazy.force ty ]))
    in
    Lazy.force ty
end

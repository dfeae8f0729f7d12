(* Objects: inherited, virtual, with parameters, immediate, of classes within functions. *)
open Truth

let times n make = List.init n make
let text i = "text " ^ string_of_int i

(* Each class shows its own instance variables; that is how a test sees them. *)

class counter start =
  object
    val mutable count : int = start
    val mutable log : string list = []
    method tick = count <- count + 1; log <- text count :: log
    method inside = [ log @: list string ]
  end

class virtual animal (name : string) =
  object (self)
    val name = name
    val mutable age = 0.5
    method virtual sound : string
    method grow = age <- age +. 1.
    method greet = name ^ self#sound
    method inside = [ name @: string; age @: float ]
  end

class dog name owner =
  object
    inherit animal name as super
    val owner : string option = owner
    method sound = "woof"
    method owner = owner
    method! inside = (owner @: option string) :: super#inside
  end

class puppy name owner toys =
  object
    inherit dog name owner as super
    val mutable toys : (string * int) array = toys
    method toys = toys
    method! sound = "yip"
    method! inside = (toys @: array (pair string int)) :: super#inside
  end

class bird name =
  object
    inherit animal name as super
    val wings = [ 1.5; 2.5 ]
    method sound = "tweet"
    method span = List.fold_left ( +. ) 0. wings
    method! inside = (wings @: list float) :: super#inside
  end

class ['a] box (inner : 'a ty) (content : 'a) =
  object
    val mutable content = content
    val mutable history : 'a list = []
    method set x = history <- content :: history; content <- x
    method inside = [ content @: inner; history @: list inner ]
  end

class ['k, 'v] cache (key : 'k ty) (data : 'v ty) =
  object
    val table : ('k, 'v) Hashtbl.t = Hashtbl.create 8
    method add k v = Hashtbl.replace table k v
    method inside = [ table @: hashtbl key data ]
  end

class virtual named = object method virtual name : string method shout = "!" end
class virtual numbered = object val mutable number = 0 method number = number method renumber n = number <- n end

class both (name : string) =
  object
    inherit named
    inherit numbered
    val tags = [| name; name ^ "2" |]
    method name = name
    method inside = [ tags @: array string ]
  end

class point x = object val mutable x : int = x method x = x method move d = {< x = x + d >} end

class node (label : string) =
  object (_ : 'self)
    val label = label
    val mutable next : 'self option = None
    method label = label
    method link n = next <- Some n
    method inside = [ label @: string ]
    method next = next
  end

let counters = times 20 (fun i -> let c = new counter i in c#tick; c#tick; c)
let dogs = times 15 (fun i -> new dog (text i) (if i mod 2 = 0 then Some (text (i + 1)) else None))
let puppies = times 12 (fun i -> new puppy (text i) (Some (text i)) (Array.init 3 (fun k -> (text k, i))))
let birds = Array.init 10 (fun i -> let b = new bird (text i) in b#grow; b)
let string_boxes = times 10 (fun i -> let b = new box string (text i) in b#set (text (i + 1)); b)
let list_boxes = times 5 (fun i -> let b = new box (list int) [ i; i ] in b#set [ i ]; b)
let cache = new cache string (option int)
let () = for i = 1 to 30 do cache#add (text i) (if i mod 4 = 0 then None else Some i) done
let boths = times 6 (fun i -> let b = new both (text i) in b#renumber i; b)
(* The same objects as of a class that theirs inherits from: they have the name of their own. *)
let seen_as_named = List.map (fun b -> (b :> named)) boths
let moved = times 6 (fun i -> (new point i)#move 2)

let chain =
  let nodes = times 10 (fun i -> new node (text i)) in
  List.iter2 (fun a b -> a#link b) (List.tl nodes) (List.filteri (fun i _ -> i < 9) nodes);
  nodes

let immediate = times 5 (fun i -> let k = text i in object method key = k end)

let mixed : animal list =
  times 20 (fun i ->
      if i mod 2 = 0 then (new dog (text i) None :> animal) else (new bird (text i) :> animal))

let counter_t = typ "Objects.counter" (fun (c : counter) -> c#inside)
let dog_t = typ "Objects.dog" (fun (d : dog) -> d#inside)
let puppy_t = typ "Objects.puppy" (fun (p : puppy) -> p#inside)
let bird_t = typ "Objects.bird" (fun (b : bird) -> b#inside)
let animal_t = typ "Objects.animal" (fun (a : animal) -> a#inside)
let box_t a = typ1 "Objects.box" a (fun (b : _ box) -> b#inside)
let cache_t a b = typ2 "Objects.cache" a b (fun (c : (_, _) cache) -> c#inside)
let both_t = typ "Objects.both" (fun (b : both) -> b#inside)
let point_t = typ "Objects.point" (fun (_ : point) -> [])
let rec node_t = lazy (typ "Objects.node" (fun (n : node) -> (n#next @: option (Lazy.force node_t)) :: n#inside))
let immediate_t = obj [ ("key", "string") ]

(* What class an object of a list of animals is, its maker knows. *)
let seen_as i : animal -> part list =
 fun a ->
  let class_t = opaque (if i mod 2 = 0 then "Objects.dog" else "Objects.bird") in
  [ a @: class_t ]

let () =
  known (list counter_t) counters;
  known (list dog_t) dogs;
  known (list puppy_t) puppies;
  known (array bird_t) birds;
  known (list (box_t string)) string_boxes;
  known (list (box_t (list int))) list_boxes;
  known (cache_t string (option int)) cache;
  known (list both_t) boths;
  known (list point_t) moved;
  known (list (Lazy.force node_t)) chain;
  known (list immediate_t) immediate;
  known (list animal_t) mixed;
  later (fun () -> List.concat (List.mapi seen_as mixed));
  report ()

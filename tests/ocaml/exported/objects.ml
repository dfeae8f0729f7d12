(* Objects that say how many fields they have, and of what: s string, i immediate, b other block. *)
let show name o =
  let o = Obj.repr o in
  let letter f =
    if Obj.is_int f then "i" else if Obj.tag f = Obj.string_tag then "s" else "b"
  in
  Printf.printf "%s:%s\n" name
    (String.concat "" (List.init (Obj.size o - 2) (fun i -> " " ^ letter (Obj.field o (i + 2)))))

class plain =
  object
    val a = "a"
    val b = "b"
    method m = a ^ b
  end

class parameters (x : string) (y : int) =
  object
    val k = "k"
    method m = x ^ k
    method private secret = y
  end

class unused (x : string) =
  object
    val k = x
    method m = k
  end

class derived =
  object
    inherit plain
    val c = 1
    val! b = "bb"
    method n = c
  end

class two =
  object
    inherit plain as super
    inherit! parameters "q" 7
    val own = 2
    method n = string_of_int own ^ super#m
  end

class hiding : object
  method m : string
end =
  object
    val z = "z"
    method m = z
  end

class over_hiding =
  object
    inherit hiding
    val z = 3
    method n = z
  end

class virtual unfinished =
  object (self)
    val virtual v : int
    val w = "w"
    method get = v
    method virtual other : int
    method both = w ^ string_of_int self#other
  end

class finished =
  object
    inherit unfinished
    val v = 4
    method other = 1
  end

class local_value =
  let l = String.make 2 'l' in
  object
    val e = 5
    method m = l ^ string_of_int e
  end

class far =
  object
    inherit [string] Ancestor.base "seed"
    val mine = 6
    method mine = mine
  end

class alias = plain
class applied = parameters "z" 3

let immediate =
  object
    val o = "o"
    val p = 2
    method o = o
    method p = p
  end

let closed s =
  object
    val o = 1
    method p = string_of_int o ^ s
  end

let open_ s =
  object
    val o = (s : string)
    method q = o
  end

let inheriting s =
  object
    inherit plain
    val o = 1
    method r = string_of_int o ^ s
  end

module F (X : sig
  val s : string
end) =
struct
  class uses =
    object
      val f = 1
      method m = string_of_int f ^ X.s
    end

  class ignores =
    object
      val f = 2
      method m = f
    end

  class inherits =
    object
      inherit uses
      val g = "g"
      method n = g
    end
end

module Applied = F (struct
  let s = Sys.opaque_identity "s"
end)

exception Top of int

module Inner = struct
  exception Nested of string
end

module G (X : sig
  type t
end) =
struct
  exception In_functor of X.t
end

module Ints = G (Int)

let local () =
  let exception Local of int in
  Local 3

let () =
  if Array.length Sys.argv > 1 then
    List.iter
      (fun e -> print_endline (Printexc.exn_slot_name e))
      [ Top 1; Inner.Nested "n"; Ints.In_functor 1; local (); Kin__Folk.Elsewhere ]
  else (
    show "plain m" (new plain);
    show "parameters m" (new parameters "x" 5);
    show "unused m" (new unused "x");
    show "derived m n" (new derived);
    show "two m n" (new two);
    show "hiding m" (new hiding);
    show "over_hiding m n" (new over_hiding);
    show "finished both get other" (new finished);
    show "local_value m" (new local_value);
    show "far count items mine" (new far);
    show "alias m" (new alias);
    show "applied m" (new applied);
    show "<object> o p" immediate;
    show "<object> p" (closed "s");
    show "<object> q" (open_ "s");
    show "<object> m r" (inheriting "s");
    show "F.uses m" (new Applied.uses);
    show "F.ignores m" (new Applied.ignores);
    show "F.inherits m n" (new Applied.inherits))

(* Closures that say what is in their environment: s string, i immediate, b other block. *)
let show name f =
  let f = Obj.repr f in
  let info = Nativeint.to_int (Obj.raw_field f 1) in
  let first = (info lsl 7) lsr 8 land 0xffff in
  let letter f =
    if Obj.is_int f then "i" else if Obj.tag f = Obj.string_tag then "s" else "b"
  in
  Printf.printf "%s:%s\n" name
    (String.concat ""
       (List.init (Obj.size f - first) (fun i -> " " ^ letter (Obj.field f (first + i)))))

let global = Sys.opaque_identity "global"
let hidden x = Sys.opaque_identity x

let in_order (a : string) (b : int) (c : string list) =
  let by_stamp x = List.length c + b + String.length (a ^ x) in
  show "by_stamp" by_stamp

let of_patterns (p : string * int) =
  let (s, n), flag = (hidden p, hidden true) in
  let from_pattern () = if flag then s else string_of_int n in
  show "from_pattern" from_pattern

let known (a : string) =
  let closed x = x + String.length global in
  let constant = 3 and flag = true in
  let of_known y = closed y + closed (y + constant) + if flag then String.length a else 0 in
  show "of_known" of_known

let recursive (a : string) (n : int) =
  let rec even x = if x = 0 then a else odd (x - n)
  and odd x = if x = 0 then global else even (x - 1) in
  show "even" even;
  ignore odd

let nested (a : string) (l : int list) =
  let outer x =
    let inner y = a ^ x ^ string_of_int (y + List.length l) in
    hidden inner
  in
  show "outer" outer;
  show "inner" (hidden outer "x")

let defaults (d : string) =
  let optional ?(o = d) ?(n = 1) x = o ^ x ^ string_of_int n in
  show "optional" optional

module Make (X : sig
  val s : string
end) =
struct
  let uses (n : int) =
    let of_functor x = X.s ^ x ^ string_of_int n in
    show "of_functor" of_functor
end

module Made = Make (struct
  let s = hidden "s"
end)

let matched (o : string option) (n : int) =
  match hidden o with
  | Some s ->
      let in_case x = s ^ string_of_int (n + x) in
      show "in_case" in_case
  | None -> ()

let looped (s : string) =
  for i = hidden 1 to 1 do
    let in_loop x = s ^ string_of_int (i + x) in
    show "in_loop" in_loop
  done

let () =
  in_order (hidden "a") (hidden 1) (hidden [ "c" ]);
  of_patterns ("s", 2);
  known (hidden "a");
  recursive (hidden "a") (hidden 1);
  nested (hidden "a") (hidden [ 1 ]);
  defaults (hidden "d");
  Made.uses (hidden 1);
  matched (Some "s") (hidden 1);
  looped (hidden "s")

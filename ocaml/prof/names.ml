(* How names are written: in exe.prof, and for people. *)

(* The escapes of docs/exe-prof.md.  NUL, which no name has that the compiler has read, becomes U+FFFD:
   it would end the name for its reader. *)
let escape name =
  if name = "" then "%"
  else
    let special = function '\000' .. ' ' | '%' | ':' | ';' | '\127' -> true | _ -> false in
    if not (String.exists special name) then name
    else
      let b = Buffer.create (String.length name + 8) in
      String.iter
        (function
          | '\000' -> Buffer.add_string b "\xef\xbf\xbd"
          | c when special c -> Printf.bprintf b "%%%02x" (Char.code c)
          | c -> Buffer.add_char b c)
        name;
      Buffer.contents b

(* "Stdlib__List" is "Stdlib.List". *)
let dotted name =
  let n = String.length name in
  let b = Buffer.create n in
  let rec go i =
    if i < n then
      if i > 0 && i + 2 < n && name.[i] = '_' && name.[i + 1] = '_' then (
        Buffer.add_char b '.';
        Buffer.add_char b (Char.uppercase_ascii name.[i + 2]);
        go (i + 3))
      else (
        Buffer.add_char b name.[i];
        go (i + 1))
  in
  go 0;
  Buffer.contents b

let has_prefix prefix s =
  let n = String.length prefix in
  String.length s >= n && String.sub s 0 n = prefix

let drop_prefix prefix s =
  if has_prefix prefix s then
    let n = String.length prefix in
    Some (String.sub s n (String.length s - n))
  else None

(* A unit as its users call it: "Stdlib__List" is "List", "Dune__exe__Main" is "Main", and what is in
   Stdlib itself has no module. *)
let of_unit name =
  if name = "Stdlib" then ""
  else
    let rec drop = function
      | [] -> dotted name
      | prefix :: rest -> (
          match drop_prefix prefix name with Some s -> dotted s | None -> drop rest)
    in
    drop [ "Stdlib__"; "Dune__exe__" ]

let join path name = if path = "" then name else path ^ "." ^ name

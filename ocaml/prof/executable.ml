(* Which units an executable is linked of, and with which interfaces; ELF of native code (gABI), and
   bytecode after whatever is before it. *)

type t = {
  crcs : (string, Digest.t option) Hashtbl.t;  (** of the interfaces of all units *)
  codes : (string, Digest.t) Hashtbl.t;  (** of the .cmx of units with native code *)
  linked : (string, unit) Hashtbl.t;  (** units with code *)
  symbols : (string, int) Hashtbl.t;  (** "camlStdlib__List" and its address; none in bytecode *)
  path : string;
}

exception Unusable of string

let unusable fmt = Printf.ksprintf (fun s -> raise (Unusable s)) fmt

let read channel offset length =
  if offset < 0 || length < 0 || offset > in_channel_length channel - length then
    unusable "cut short";
  seek_in channel offset;
  really_input_string channel length

let int64 s i = Int64.to_int (String.get_int64_le s i)
let int32 s i = Int32.to_int (String.get_int32_le s i) land 0xffff_ffff

type section = { kind : int; address : int; offset : int; size : int; link : int }

let progbits = 1
let symtab = 2
let dynsym = 11 (* what strip leaves: programs of ocamlopt export their symbols *)

let sections channel =
  let header = read channel 0 64 in
  if header.[4] <> '\002' || header.[5] <> '\001' then unusable "not a 64-bit little-endian ELF file";
  let count = String.get_uint16_le header 0x3c in
  let table = read channel (int64 header 0x28) (64 * count) in
  List.init count (fun i ->
      let at = 64 * i in
      { kind = int32 table (at + 4); address = int64 table (at + 16); offset = int64 table (at + 24);
        size = int64 table (at + 32); link = int32 table (at + 40) })

let string_at strings offset =
  match String.index_from_opt strings offset '\000' with
  | Some e -> String.sub strings offset (e - offset)
  | None -> ""

(* Symbols that the compiler made. *)
let caml_symbols channel sections =
  let symbols = Hashtbl.create 10_000 in
  List.iter
    (fun s ->
      if (s.kind = symtab || s.kind = dynsym) && s.link < List.length sections then (
        let strings = List.nth sections s.link in
        let strings = read channel strings.offset strings.size in
        let table = read channel s.offset s.size in
        for i = 0 to (s.size / 24) - 1 do
          let name = int32 table (24 * i) in
          if
            name + 4 < String.length strings
            && strings.[name] = 'c'
            && String.sub strings name 4 = "caml"
          then Hashtbl.replace symbols (string_at strings name) (int64 table ((24 * i) + 8))
        done))
    sections;
  symbols

let contents channel section = read channel section.offset section.size

(* The string of OCaml at [at] in static data: the size in its header is above 8 + 2 bits. *)
let string_in data at =
  let words = Int64.to_int (Int64.shift_right_logical (String.get_int64_le data (at - 8)) 10) in
  let last = (8 * words) - 1 in
  if last < 0 || words > (String.length data - at) / 8 then None
  else
    let padding = Char.code data.[at + last] in
    if padding > 7 then None else Some (String.sub data at (last - padding))

(* What the linker writes: the unit, digests of its interface and implementation, and the symbols of
   the units in it: none if only its interface was used, several for packs. *)
type globals_map = (string * Digest.t option * Digest.t option * string list) list

let is_text x = Obj.is_block x && Obj.tag x = Obj.string_tag
let is_pair_of n x = Obj.is_block x && Obj.tag x = 0 && Obj.size x = n

let rec is_list_of p x =
  if Obj.is_int x then Obj.repr 0 == x
  else is_pair_of 2 x && p (Obj.field x 0) && is_list_of p (Obj.field x 1)

let is_digest_option x =
  (Obj.is_int x && Obj.repr 0 == x)
  || is_pair_of 1 x
     && is_text (Obj.field x 0)
     && String.length (Obj.obj (Obj.field x 0)) = Digest.(String.length (string ""))

let is_entry x =
  is_pair_of 4 x
  && is_text (Obj.field x 0)
  && is_digest_option (Obj.field x 1)
  && is_digest_option (Obj.field x 2)
  && is_list_of is_text (Obj.field x 3)

(* The value that was marshalled into a text, if it is a map of units and not something else. *)
let globals_map text : globals_map option =
  match Obj.repr (Marshal.from_string text 0) with
  | value when Obj.is_block value && is_list_of is_entry value -> Some (Obj.obj value)
  | _ | (exception (Failure _ | Invalid_argument _)) -> None

let marshalled = "\x84\x95\xa6\xbe"

(* Static and stripped, a program does not say where its map is. *)
let search_map data =
  let rec from at =
    if at + String.length marshalled > String.length data then None
    else if
      String.get_int32_le data at = String.get_int32_le marshalled 0
      && Char.code data.[at - 8] = Obj.string_tag
    then
      match Option.bind (string_in data at) globals_map with
      | None -> from (at + 8)
      | map -> map
    else from (at + 8)
  in
  from 8

let find_map channel sections symbols =
  let data = List.filter (fun s -> s.kind = progbits) sections in
  match Hashtbl.find_opt symbols "caml_globals_map" with
  | Some address ->
      let holds s = address - 8 >= s.address && address < s.address + s.size in
      Option.bind (List.find_opt holds data) (fun s ->
          Option.bind (string_in (contents channel s) (address - s.address)) globals_map)
  | None -> List.find_map (fun s -> search_map (contents channel s)) data

let native channel path =
  let sections = sections channel in
  let symbols = caml_symbols channel sections in
  match find_map channel sections symbols with
  | None -> unusable "it has no map of its units: no program of ocamlopt, or without its sections"
  | Some map ->
      let crcs = Hashtbl.create 100 and codes = Hashtbl.create 100 and linked = Hashtbl.create 100 in
      List.iter
        (fun (name, crc, code, members) ->
          List.iter (fun member -> Hashtbl.replace linked member ()) members;
          Hashtbl.replace crcs name crc;
          Option.iter (Hashtbl.replace codes name) code)
        map;
      { crcs; codes; linked; symbols; path }

(* At the end: for each section a name and its length, how many there are, and a magic number. *)
let bytecode channel path =
  let length = in_channel_length channel in
  let big s i = Int32.to_int (String.get_int32_be s i) land 0xffff_ffff in
  let count = big (read channel (length - 16) 16) 0 in
  let table = read channel (length - 16 - (8 * count)) (8 * count) in
  let rec find i end_ =
    if i < 0 then unusable "it has no digests of its units"
    else
      let start = end_ - big table ((8 * i) + 4) in
      if String.sub table (8 * i) 4 = "CRCS" then read channel start (end_ - start)
      else find (i - 1) start
  in
  let digests : (string * Digest.t option) list =
    Marshal.from_string (find (count - 1) (length - 16 - (8 * count))) 0
  in
  let crcs = Hashtbl.create 100 and linked = Hashtbl.create 100 in
  List.iter
    (fun (name, crc) ->
      Hashtbl.replace crcs name crc;
      Hashtbl.replace linked name ())
    digests;
  { crcs; codes = Hashtbl.create 1; linked; symbols = Hashtbl.create 1; path }

let is_bytecode channel =
  let length = in_channel_length channel in
  length > 16 && Names.has_prefix "Caml1999X" (read channel (length - 12) 12)

(* Raises Unusable, Sys_error. *)
let load path =
  let channel = open_in_bin path in
  Fun.protect
    ~finally:(fun () -> close_in channel)
    (fun () ->
      try
        if is_bytecode channel then bytecode channel path
        else if in_channel_length channel > 64 && read channel 0 4 = "\127ELF" then
          native channel path
        else unusable "neither an ELF file nor bytecode of OCaml"
      with End_of_file | Failure _ | Invalid_argument _ -> unusable "cut short, or damaged")

let links t name = Hashtbl.mem t.linked name
let names t name = links t name || Hashtbl.mem t.crcs name
let linked t = List.sort compare (Hashtbl.fold (fun name () l -> name :: l) t.linked [])

(* Is it of the interface that was linked, as far as that is known. *)
let agrees t name crc =
  match (Hashtbl.find_opt t.crcs name, crc) with Some (Some a), Some b -> a = b | _ -> true

(* Is it known to be of the interface that was linked. *)
let has_interface t name crc =
  match (Hashtbl.find_opt t.crcs name, crc) with Some (Some a), Some b -> a = b | _ -> false

(* Is this .cmx the one that was linked: its digest of itself is at its end. *)
let has_code t name cmx =
  match Hashtbl.find_opt t.codes name with
  | None -> false
  | Some code -> (
      try
        let channel = open_in_bin cmx in
        Fun.protect
          ~finally:(fun () -> close_in channel)
          (fun () ->
            let length = String.length code in
            read channel (in_channel_length channel - length) length = code)
      with Sys_error _ | End_of_file | Unusable _ -> false)

(* Does it have this function or value of this unit: separators differ between versions. *)
let has_symbol t ~unit_name ident =
  List.exists
    (fun separator -> Hashtbl.mem t.symbols ("caml" ^ unit_name ^ separator ^ ident))
    [ "__"; "."; "$" ]

(* Which units an executable is linked of, and with which interfaces; ELF of native code (gABI), and
   bytecode behind whatever is before it. *)

type t = {
  crcs : (string, Digest.t option) Hashtbl.t;  (** of the interfaces of all units *)
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
      if s.kind = symtab && s.link < List.length sections then (
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

(* A string of OCaml in static data, by its address: its header's size is behind 8 + 2 bits. *)
let static_string channel sections address =
  let holds s = s.kind = progbits && address - 8 >= s.address && address < s.address + s.size in
  match List.find_opt holds sections with
  | None -> unusable "it has no map of its units"
  | Some s ->
      let at = address - s.address + s.offset in
      let words = Int64.to_int (Int64.shift_right_logical (String.get_int64_le (read channel (at - 8) 8) 0) 10) in
      let bytes = read channel at (8 * words) in
      let last = String.length bytes - 1 in
      if last < 0 then "" else String.sub bytes 0 (last - Char.code bytes.[last])

(* What the linker writes: the unit, digests of its interface and implementation, and the symbols of
   the units in it: none if only its interface was used, several for packs. *)
type globals_map = (string * Digest.t option * Digest.t option * string list) list

let native channel path =
  let sections = sections channel in
  let symbols = caml_symbols channel sections in
  match Hashtbl.find_opt symbols "caml_globals_map" with
  | None -> unusable "it is stripped, or no program of OCaml"
  | Some address ->
      let map : globals_map = Marshal.from_string (static_string channel sections address) 0 in
      let crcs = Hashtbl.create 100 and linked = Hashtbl.create 100 in
      List.iter
        (fun (name, crc, _, members) ->
          List.iter (fun member -> Hashtbl.replace linked member ()) members;
          Hashtbl.replace crcs name crc)
        map;
      { crcs; linked; symbols; path }

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
  { crcs; linked; symbols = Hashtbl.create 1; path }

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
let linked t = List.sort compare (Hashtbl.fold (fun name () l -> name :: l) t.linked [])

(* Is it of the interface that was linked, as far as that is known. *)
let agrees t name crc =
  match (Hashtbl.find_opt t.crcs name, crc) with Some (Some a), Some b -> a = b | _ -> true

(* Does it have this function or value of this unit: separators differ between versions. *)
let has_symbol t ~unit_name ident =
  List.exists
    (fun separator -> Hashtbl.mem t.symbols ("caml" ^ unit_name ^ separator ^ ident))
    [ "__"; "."; "$" ]

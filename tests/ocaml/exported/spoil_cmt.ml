(* spoil_cmt digest|pointer FILE: makes a .cmt say what no compiler does.

   digest: those of interfaces are too short.
   pointer: the text "a comment there" of a documented type, which is kept, but never looked at, is far
   away instead of a block.  The value, which is compressed, becomes a frame of zstd whose blocks are
   stored as they are (RFC 8878, 3.1.1); its header is that of runtime/intern.c, caml_parse_header. *)

let comment = "\x2fa comment there"

(* A text of six characters less, and what makes a reference to it one to elsewhere. *)
let far_away = "\x11\x7f\xff\xff\xf8\x2aelsewhere."

let read file =
  let channel = open_in_bin file in
  let text = really_input_string channel (in_channel_length channel) in
  close_in channel;
  text

let write file text =
  let channel = open_out_bin file in
  output_string channel text;
  close_out channel

let from i text = String.sub text i (String.length text - i)

let rec replace i text =
  let n = String.length comment in
  if String.sub text i n = comment then String.sub text 0 i ^ far_away ^ from (i + n) text
  else replace (i + 1) text

(* Seven bits a byte, of which only the last has no eighth. *)
let rec varying ?(more = 0) n =
  (if n >= 128 then varying ~more:128 (n lsr 7) else "")
  ^ String.make 1 (Char.chr ((n land 127) lor more))

let rec after_varying text i = if Char.code text.[i] >= 128 then after_varying text (i + 1) else i + 1

let little width n = String.init width (fun i -> Char.chr ((n lsr (8 * i)) land 255))

let rec blocks text =
  let n = min (String.length text) 100_000 in
  let last = n = String.length text in
  let block = little 3 (Bool.to_int last lor (n lsl 3)) ^ String.sub text 0 n in
  if last then block else block ^ blocks (from n text)

let decompressed file frame =
  write (file ^ ".zst") frame;
  if Sys.command (Filename.quote_command "zstd" [ "-qdf"; file ^ ".zst"; "-o"; file ]) <> 0 then
    failwith "zstd";
  Sys.remove (file ^ ".zst");
  read file

let spoil_pointer file =
  let text = read file in
  let start = String.length Config.cmt_magic_number in
  let header = Char.code text.[start + 4] land 0x3f in
  let value = replace 0 (decompressed file (from (start + header) text)) in
  let frame = "\x28\xb5\x2f\xfd\xa0" ^ little 4 (String.length value) ^ blocks value in
  let sizes = after_varying text (start + 5) in
  let sizes =
    varying (String.length frame) ^ String.sub text sizes (start + header - sizes)
  in
  Config.cmt_magic_number ^ "\x84\x95\xa6\xbd"
  ^ String.make 1 (Char.chr (5 + String.length sizes))
  ^ sizes ^ frame

let spoil_digest file =
  let c = Cmt_format.read_cmt file in
  let short (name, digest) = (name, Option.map (fun _ -> "short") digest) in
  Config.cmt_magic_number
  ^ Marshal.to_string { c with cmt_imports = List.map short c.cmt_imports } []

let () =
  let file = Sys.argv.(2) in
  write file (if Sys.argv.(1) = "digest" then spoil_digest file else spoil_pointer file)

(* spoil_cmt digest|import|label|position|pointer FILE: makes a .cmt say what no compiler does.

   digest: those of interfaces are too short.
   import: the name of a unit ends in NULs.
   label: there is a NUL in "a_label", the name of a field.
   position: expressions end before their lines, or beyond all lines.
   pointer: the text "a comment there" of a documented type, which is kept, but never looked at, is far
   away instead of a block.  The value, which is compressed, becomes a frame of zstd whose blocks are
   stored as they are (RFC 8878, 3.1.1); its header is that of runtime/intern.c, caml_parse_header. *)

let comment = "\x2fa comment there"

(* A text of six characters less, and what makes a reference to it one to elsewhere. *)
let far_away = "\x11\x7f\xff\xff\xf8\x2aelsewhere."

let label = "\x27a_label"
let label_with_nul = "\x27a_\000\000bel"

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

(* All of them; there must be one. *)
let replace what by text =
  let n = String.length what in
  let rec parts start i =
    if i + n > String.length text then [ from start text ]
    else if String.sub text i n = what then
      String.sub text start (i - start) :: parts (i + n) (i + n)
    else parts start (i + 1)
  in
  match parts 0 0 with [ _ ] -> failwith "it is not there" | parts -> String.concat by parts

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
  let value = replace comment far_away (decompressed file (from (start + header) text)) in
  let frame = "\x28\xb5\x2f\xfd\xa0" ^ little 4 (String.length value) ^ blocks value in
  let sizes = after_varying text (start + 5) in
  let sizes =
    varying (String.length frame) ^ String.sub text sizes (start + header - sizes)
  in
  Config.cmt_magic_number ^ "\x84\x95\xa6\xbd"
  ^ String.make 1 (Char.chr (5 + String.length sizes))
  ^ sizes ^ frame

let written (c : Cmt_format.cmt_infos) = Config.cmt_magic_number ^ Marshal.to_string c []

let spoil_imports f file =
  let c = Cmt_format.read_cmt file in
  written { c with cmt_imports = List.map f c.cmt_imports }

let short (name, digest) = (name, Option.map (fun _ -> "short") digest)

let with_nuls (name, digest) =
  ((if name = "Stdlib" then "Stdl\000\000" else name), digest)

let spoil_label file = replace label label_with_nul (written (Cmt_format.read_cmt file))

let spoil_positions file =
  let c = Cmt_format.read_cmt file in
  let set (p : Lexing.position) field value = Obj.set_field (Obj.repr p) field (Obj.repr value) in
  let line = 1 and beginning = 2 in
  let count = ref 0 in
  let expr (it : Tast_iterator.iterator) (e : Typedtree.expression) =
    incr count;
    if !count land 1 = 0 then set e.exp_loc.loc_end beginning (1 lsl 40)
    else set e.exp_loc.loc_end line (1 lsl 40);
    Tast_iterator.default_iterator.expr it e
  in
  let it = { Tast_iterator.default_iterator with expr } in
  (match c.cmt_annots with Implementation s -> it.structure it s | _ -> failwith "no implementation");
  written c

let () =
  let file = Sys.argv.(2) in
  write file
    (match Sys.argv.(1) with
    | "digest" -> spoil_imports short file
    | "import" -> spoil_imports with_nuls file
    | "label" -> spoil_label file
    | "position" -> spoil_positions file
    | _ -> spoil_pointer file)

(* Whether the marshalled values of a file are whole.  The compiler's reader believes what they say of
   their own sizes: damaged ones make it write beyond its blocks.  The format is that of
   runtime/caml/intext.h: bytes that tell what follows, integers with the highest byte first. *)

exception Damaged of string

type t = {
  channel : in_channel;
  window : Bytes.t;  (** what is near in the file *)
  mutable start : int;  (** of the window in the file *)
  mutable filled : int;  (** of the window, not beyond [stop] *)
  mutable next : int;  (** in the window; beyond it after a long text *)
  mutable stop : int;  (** in the file *)
  mutable objects : int;
  mutable words : int;  (** of blocks, headers included *)
}

let damaged what = raise (Damaged what)

let at t = t.start + t.next
let left t = t.stop - at t

let refill t =
  t.start <- at t;
  t.next <- 0;
  t.filled <- 0;
  seek_in t.channel t.start;
  let wanted = min (Bytes.length t.window) (t.stop - t.start) in
  really_input t.channel t.window 0 wanted;
  t.filled <- wanted

let skip t n =
  if n < 0 || n > left t then damaged "values end too early";
  t.next <- t.next + n

(* Where the next [n] bytes, a few, are in the window. *)
let take t n =
  if n > left t then damaged "values end too early";
  if t.next + n > t.filled then refill t;
  let next = t.next in
  t.next <- next + n;
  next

let u8 t =
  let next = t.next in
  if next < t.filled then (
    t.next <- next + 1;
    Char.code (Bytes.get t.window next))
  else Bytes.get_uint8 t.window (take t 1)

let u16 t = Bytes.get_uint16_be t.window (take t 2)
let u32 t = Int32.to_int (Bytes.get_int32_be t.window (take t 4)) land 0xffffffff

let u64 t =
  let n = Bytes.get_int64_be t.window (take t 8) in
  if Int64.shift_right_logical n 56 <> 0L then damaged "a size is too large";
  Int64.to_int n

(* Seven bits a byte; the eighth tells that there are more. *)
let rec varying t n =
  if n >= 1 lsl 50 then damaged "a size is too large";
  let byte = u8 t in
  let n = (n lsl 7) lor (byte land 0x7f) in
  if byte land 0x80 <> 0 then varying t n else n

let[@inline] block t wosize =
  t.objects <- t.objects + 1;
  t.words <- t.words + 1 + wosize

let text t length =
  skip t length;
  block t ((length / 8) + 1)

let floats t count =
  if count > left t then damaged "values end too early";
  skip t (8 * count);
  block t count

(* Closures, infix and abstract blocks are in no file of the compiler. *)
let fields t tag wosize =
  if tag = Obj.closure_tag || tag = Obj.infix_tag || tag >= Obj.abstract_tag then
    damaged "a block's tag is impossible";
  if wosize > left t then damaged "values end too early";
  if wosize > 0 then block t wosize;
  wosize

let shared t back = if back < 1 || back > t.objects then damaged "a value refers to none"

(* Boxed integers are all that there is. *)
let custom t =
  match Bytes.sub_string t.window (take t 3) 3 with
  | "_j\000" -> skip t 8; block t 2
  | "_i\000" -> skip t 4; block t 2
  | "_n\000" -> skip t (if u8 t = 1 then 4 else 8); block t 2
  | _ -> damaged "a custom block is unknown"

(* One item; how many fields follow it. *)
let item t =
  let code = u8 t in
  if code >= 0x80 then fields t (code land 0xf) ((code lsr 4) land 7)
  else if code >= 0x40 then 0
  else if code >= 0x20 then (text t (code land 0x1f); 0)
  else
    match code with
    | 0x08 -> let header = u32 t in fields t (header land 0xff) (header lsr 10)
    | 0x13 -> let header = u64 t in fields t (header land 0xff) (header lsr 10)
    | _ ->
        (match code with
        | 0x00 -> skip t 1
        | 0x01 -> skip t 2
        | 0x02 -> skip t 4
        | 0x03 -> skip t 8
        | 0x04 -> shared t (u8 t)
        | 0x05 -> shared t (u16 t)
        | 0x06 -> shared t (u32 t)
        | 0x14 -> shared t (u64 t)
        | 0x09 -> text t (u8 t)
        | 0x0a -> text t (u32 t)
        | 0x15 -> text t (u64 t)
        | 0x0b | 0x0c -> floats t 1
        | 0x0d | 0x0e -> floats t (u8 t)
        | 0x0f | 0x07 -> floats t (u32 t)
        | 0x16 | 0x17 -> floats t (u64 t)
        | 0x19 -> custom t
        | _ -> damaged "a value is of no kind");
        0

let rec items t pending = if pending > 0 then items t (pending - 1 + item t)

(* The writer counts objects for what is shared only. *)
let contents t ~length ~objects ~words =
  if length > left t then damaged "cut short";
  let stop = t.stop in
  t.stop <- at t + length;
  t.filled <- min t.filled (t.stop - t.start);
  t.objects <- 0;
  t.words <- 0;
  items t 1;
  if left t > 0 then damaged "values end too late";
  if t.words <> words || (t.objects <> objects && objects <> 0) then
    damaged "values are not as large as they say";
  t.stop <- stop

let value t =
  match u32 t with
  | 0x8495A6BE ->
      let length = u32 t in
      let objects = u32 t in
      skip t 4;
      contents t ~length ~objects ~words:(u32 t)
  | 0x8495A6BF ->
      skip t 4;
      let length = u64 t in
      let objects = u64 t in
      contents t ~length ~objects ~words:(u64 t)
  | 0x8495A6BD ->
      (* Compressed: only its length can be seen. *)
      let header = (u8 t land 0x3f) - 5 in
      let start = at t in
      let length = varying t 0 in
      skip t (header - (at t - start));
      if length > left t then damaged "cut short";
      skip t length
  | _ -> damaged "no value where one should be"

(* What follows each of the two magic numbers: name and signature, imports, flags; annotations. *)
let rec parts t =
  if left t > 0 then (
    let magic = Bytes.sub_string t.window (take t 12) 12 in
    if magic = Config.cmi_magic_number then (
      value t;
      value t;
      value t;
      parts t)
    else if magic = Config.cmt_magic_number then value t
    else damaged "not a part of a file of the compiler")

let window = Bytes.create 65536
let whole : (string, unit) Hashtbl.t = Hashtbl.create 1000

(* What is wrong with a .cmt, .cmti or .cmi; each is looked at once. *)
let damage file =
  let look channel =
    let stop = in_channel_length channel in
    parts { channel; window; start = 0; filled = 0; next = 0; stop; objects = 0; words = 0 }
  in
  if Hashtbl.mem whole file then None
  else
    let channel = open_in_bin file in
    match Fun.protect ~finally:(fun () -> close_in channel) (fun () -> look channel) with
    | () ->
        Hashtbl.add whole file ();
        None
    | exception Damaged what -> Some what
    | exception End_of_file -> Some "cut short"

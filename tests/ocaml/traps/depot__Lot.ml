type 'a link = { value : 'a; below : 'a link option }
type 'a t = { list : 'a list; last : 'a link option; size : int }
type code = string
type mark = Marked of { place : int; by : string } | Unmarked

let stash = ref [ "not"; "exported" ]
let none = { list = []; last = None; size = 0 }

let append value { list; last; size } =
  { list = value :: list; last = Some { value; below = last }; size = size + 1 }

let code s = String.concat "-" [ s; List.hd !stash ]
let mark n = if n < 0 then Unmarked else Marked { place = n; by = string_of_int n }

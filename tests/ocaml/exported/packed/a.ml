type t = { name : string; next : t option }
let first = { name = Sys.opaque_identity "a"; next = None }
exception In_pack of t

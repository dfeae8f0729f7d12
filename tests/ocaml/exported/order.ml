let hidden = [ Sys.opaque_identity "hidden" ]
let a = Some (Sys.opaque_identity "first")

module M = struct
  let inner = ref (Sys.opaque_identity "inner")

  module N = struct
    let deep = Some (Sys.opaque_identity 3)
  end
end

external length : string -> int = "caml_ml_string_length"

exception Foo

module Shown = struct
  let x = Sys.opaque_identity "x"
  let unseen = Sys.opaque_identity [| "unseen" |]
  let y = Sys.opaque_identity 1
end

include struct
  let included = ref (Sys.opaque_identity 1.5)
end

open struct
  let opened = Some (Sys.opaque_identity M.N.deep)
end

let a = if !included > 2. then a else Option.map (fun s -> s ^ "last") a
let size = Sys.opaque_identity [ "size" ]

include struct
  external size : string -> int = "caml_ml_string_length"
end

let z = Sys.opaque_identity [ "z" ] @ hidden @ Array.to_list Shown.unseen
let _ = opened

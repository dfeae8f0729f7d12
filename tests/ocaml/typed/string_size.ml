type t = string

let size = String.length

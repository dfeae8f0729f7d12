(* Compiled without -g: nobody knows where in the source it allocates. *)
let rec cells n = if n = 0 then [] else n :: cells (n - 1)

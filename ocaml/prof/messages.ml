(* What is said to the user: warnings, details with -v, and the exit status. *)

let verbose = ref false
let warnings = ref 0

(* To standard error; a child process hands messages to its parent. *)
let print =
  ref (fun s ->
      prerr_string ("heapgraph-prof: " ^ s ^ "\n");
      flush stderr)

let say fmt = Printf.ksprintf (fun s -> !print s) fmt

let warn fmt =
  Printf.ksprintf
    (fun s ->
      incr warnings;
      say "warning: %s" s)
    fmt

let detail fmt = Printf.ksprintf (fun s -> if !verbose then say "%s" s) fmt

(* "a, b, c and 5 more" *)
let some ?(most = 5) names =
  let rec go n = function
    | [] -> []
    | rest when n = 0 -> [ Printf.sprintf "%d more" (List.length rest) ]
    | x :: rest -> x :: go (n - 1) rest
  in
  String.concat ", " (go (if !verbose then max_int else most) names)

(* Loaded by plugin_host: static data, globals and code that the executable does not have. *)
type item = { number : int; words : string list; numbers : float array }

let constant = [ "loaded"; "by"; "dynlink" ]
let table : (int, item) Hashtbl.t = Hashtbl.create 10

let () =
  for i = 1 to 1000 do
    Hashtbl.replace table i { number = i; words = constant; numbers = [| 0.5; float_of_int i |] }
  done;
  Plugin_api.values := [ Obj.repr constant; Obj.repr (Array.make 50 constant) ];
  Plugin_api.answer := fun n -> (Hashtbl.find table n).words @ [ string_of_int n ]

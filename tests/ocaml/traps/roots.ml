(* Values of which a test wants the addresses: 'ROOT NAME 0xADDRESS' for each, then READY.  They hang
   in a root of C, which says nothing of their types. *)
external address : Obj.t -> int = "truth_address"
external hold : Obj.t -> unit = "truth_hold"
external held : unit -> Obj.t = "truth_held"
external wait : unit -> unit = "truth_wait"

let named () : (string * Obj.t) list = Obj.obj (held ())
let root name value = hold (Obj.repr ((name, Obj.repr value) :: named ()))

let report () =
  Gc.set { (Gc.get ()) with Gc.max_overhead = 1_000_000 };
  Gc.compact ();
  let line (name, value) =
    if Obj.is_int value then Printf.printf "ROOT %s immediate\n" name
    else Printf.printf "ROOT %s 0x%x\n" name (address value)
  in
  List.iter line (List.rev (named ()));
  print_string "READY\n";
  flush stdout;
  wait ()

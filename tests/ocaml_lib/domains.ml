(* OCaml 5: three domains, each of which holds 500 blocks of 41 words by its own stack only: one
   sleeps in a system call, one allocates, one computes.  Dumps several times, once from a domain
   of its own, and prints the files and how many domains stood still. *)

let ready = Atomic.make 0
let finish = Atomic.make false

let hold wait =
  let blocks = List.init 500 (fun i -> Array.make 41 i) in
  Atomic.incr ready;
  wait ();
  List.fold_left (fun sum block -> sum + Array.length (Sys.opaque_identity block)) 0 blocks

let allocate () =
  while not (Atomic.get finish) do
    ignore (Sys.opaque_identity (List.init 100 (fun i -> string_of_int i)))
  done

let sleep () =
  while not (Atomic.get finish) do
    Unix.sleepf 0.05
  done

let compute () =
  let cell = ref 1 in
  while not (Atomic.get finish) do
    cell := !cell * 7919 mod 1_000_003
  done

let dump () =
  let file = Heapgraph.dump_heap () in
  let domains = match Heapgraph.last () with Some stats -> stats.domains | None -> 0 in
  Printf.printf "%s %d\n%!" file domains

let () =
  let domains = List.map (fun wait -> Domain.spawn (fun () -> hold wait)) [ sleep; allocate; compute ] in
  while Atomic.get ready < 3 do
    Domain.cpu_relax ()
  done;
  for _ = 1 to 4 do
    dump ()
  done;
  Domain.join (Domain.spawn dump);
  (* Both at once. *)
  let other = Domain.spawn dump in
  dump ();
  Domain.join other;
  Atomic.set finish true;
  Printf.printf "held %d\n" (List.fold_left (fun sum domain -> sum + Domain.join domain) 0 domains)

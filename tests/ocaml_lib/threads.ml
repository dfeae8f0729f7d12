(* Three threads, each of which holds 500 blocks of 41 words by its own stack only: one sleeps, one
   waits for a mutex, one allocates.  Dumps several times, and prints the files. *)

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
    Thread.delay 0.05
  done

let () =
  let mutex = Mutex.create () in
  Mutex.lock mutex;
  let blocked () =
    Mutex.lock mutex;
    Mutex.unlock mutex
  in
  let sums = Array.make 3 0 in
  let threads =
    List.mapi
      (fun i wait -> Thread.create (fun () -> sums.(i) <- hold wait) ())
      [ sleep; blocked; allocate ]
  in
  while Atomic.get ready < 3 do
    Thread.yield ()
  done;
  for _ = 1 to 5 do
    print_endline (Heapgraph.dump_heap ());
    Thread.delay 0.01
  done;
  Atomic.set finish true;
  Mutex.unlock mutex;
  List.iter Thread.join threads;
  Printf.printf "held %d\n" (Array.fold_left ( + ) 0 sums)

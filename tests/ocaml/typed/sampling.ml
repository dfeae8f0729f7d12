(* Gc.Memprof samples from the beginning of the program, where SAMPLE says at which rate; the call
   stacks that it keeps tell where blocks were made. *)

let () =
  match Sys.getenv_opt "SAMPLE" with
  | None -> ()
  | Some rate ->
    let keep allocation = Some allocation.Gc.Memprof.callstack in
    let tracker =
      {
        Gc.Memprof.alloc_minor = keep;
        alloc_major = keep;
        promote = Option.some;
        dealloc_minor = ignore;
        dealloc_major = ignore;
      }
    in
    ignore (Gc.Memprof.start ~sampling_rate:(float_of_string rate) tracker)

external print_frames : unit -> unit = "print_frames"

let () = if Array.length Sys.argv > 1 then print_frames ()

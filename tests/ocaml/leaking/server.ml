(* What the leaking and the healthy programs share: a small server with users, routes, settings and
   translations, of which nothing grows, and requests that it makes up.

   Lines on stdin say how many requests to serve next; after them all garbage is collected (or not,
   by the mode) and 'READY n' is said, n being all that were served.

     quiet  READY right after a full major collection
     held   the same, but amid the walk over the data that a page of statistics makes
     busy   the first line only: goes on and on, and says 'SERVED n' now and then *)

type user = { uid : int; name : string; email : string; mutable seen : float }
type request = { id : int; path : string; headers : (string * string) list; body : Bytes.t; user : user }
type response = { status : int; text : string }
type route = { pattern : string; methods : string list; hits : int ref }
type limits = { timeout : float; most_bytes : int; allowed : string array }
type settings = { listen : string * int; limits : limits; plugins : (string * (request -> bool)) list }

module Words = Map.Make (String)

let settings =
  { listen = ("127.0.0.1", Array.length Sys.argv + 8080);
    limits = { timeout = float (Array.length Sys.argv); most_bytes = 1 lsl 20;
               allowed = Array.init 200 (Printf.sprintf "10.0.0.%d") };
    plugins = [ ("long", fun r -> String.length r.path > 64); ("empty", fun r -> r.body = Bytes.empty) ] }

let users =
  Array.init 500 (fun uid ->
      { uid; name = Printf.sprintf "user-%d" uid; email = Printf.sprintf "user%d@example.org" uid; seen = 0. })

let routes : (string, route) Hashtbl.t = Hashtbl.create 4096
let words : string Words.t ref = ref Words.empty

let set_up () =
  for i = 0 to 3999 do
    Hashtbl.replace routes (Printf.sprintf "/api/v1/item/%d" i)
      { pattern = Printf.sprintf "/api/v1/item/%d/:id" i; methods = [ "GET"; "POST" ]; hits = ref 0 }
  done;
  for i = 1 to 8000 do
    words :=
      Words.add (Printf.sprintf "word%06d" (i * 7919 mod 100003)) (Printf.sprintf "translation of %d" i) !words
  done

let request id =
  { id; path = Printf.sprintf "/api/v1/item/%d" (id mod 4000);
    headers = [ ("host", "example.org"); ("x-request-id", string_of_int id); ("accept", "application/json") ];
    body = Bytes.make (64 + (id mod 64)) 'b'; user = users.(id mod 500) }

let respond r =
  Option.iter (fun route -> incr route.hits) (Hashtbl.find_opt routes r.path);
  r.user.seen <- float r.id;
  let refused = List.exists (fun (_, refuses) -> refuses r) settings.plugins in
  { status = (if refused then 400 else 200); text = Printf.sprintf "{\"id\": %d, \"user\": %S}" r.id r.user.name }

(* What a request costs a server that never rests, so that it does not grow without bound meanwhile. *)
let render response =
  let page = Buffer.create 32768 in
  for _ = 1 to 500 do
    Buffer.add_string page response.text
  done;
  ignore (Sys.opaque_identity (Digest.string (Buffer.contents page)))

(* halfway COUNT PAUSE: calls PAUSE when it was called for half of COUNT things. *)
let halfway count pause =
  let left = ref ((count / 2) + 1) in
  fun () ->
    decr left;
    if !left = 0 then pause ()

let served = ref 0

let serve handle count =
  for _ = 1 to count do
    incr served;
    ignore (Sys.opaque_identity (handle (request !served)))
  done

let say word = Printf.printf "%s %d\n%!" word !served
let next () = int_of_string (String.trim (input_line stdin))

let rec serve_forever handle statistics =
  for _ = 1 to 100 do
    incr served;
    render (handle (request !served))
  done;
  say "SERVED";
  if !served mod 1000 = 0 then statistics (fun () -> ());
  serve_forever handle statistics

(* [statistics pause] walks over what the program keeps, and calls [pause] amid it. *)
let run ~statistics handle =
  Option.iter
    (fun rate -> Result.iter_error failwith (Heapgraph.sample ~rate ()))
    (Option.bind (Sys.getenv_opt "SAMPLE") float_of_string_opt);
  set_up ();
  match Sys.argv.(1) with
  | "busy" ->
    serve handle (next ());
    serve_forever handle statistics
  | mode ->
    let rec step count =
      serve handle count;
      Gc.full_major ();
      if mode = "held" then begin
        let count = ref 0 in
        statistics (fun () -> say "READY"; count := next ());
        step !count
      end
      else begin
        say "READY";
        step (next ())
      end
    in
    (try step (next ()) with End_of_file -> ())

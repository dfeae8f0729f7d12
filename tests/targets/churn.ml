(* Allocates, keeps and drops: minor collections, major slices and a compaction now and then.
   The argument says how many rounds; what is printed depends on nothing else. *)
type cell = { key : int; mutable next : cell option; text : string; values : float array }

let table : (int, cell) Hashtbl.t = Hashtbl.create 1000

let make key =
  { key; next = None; text = string_of_int key; values = Array.make (key land 7) (float key) }

let round number =
  for i = 1 to 100_000 do
    let key = i * 7919 mod 20_011 in
    let cell = make (key + number) in
    (match Hashtbl.find_opt table key with
     | Some old when old.key land 3 = 0 -> cell.next <- Some { old with next = None }
     | _ -> ());
    Hashtbl.replace table key cell
  done;
  if number land 15 = 0 then Gc.compact ()

let () =
  let rounds = int_of_string Sys.argv.(1) in
  for number = 1 to rounds do round number done;
  let sum =
    Hashtbl.fold
      (fun key cell sum ->
        let behind = match cell.next with Some c -> c.key | None -> 1 in
        sum + (key * cell.key) + behind + String.length cell.text + Array.length cell.values)
      table 0
  in
  Printf.printf "%d cells, sum %d\n" (Hashtbl.length table) sum

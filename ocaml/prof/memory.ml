(* A .cmt is read into memory at once, faster than the collector is paced for: without this the heap
   would become several times as large as what is kept. *)

let words_at_least = 12 * 1024 * 1024
let live = ref words_at_least

(* Called when a .cmt has been dealt with. *)
let tidy () =
  if (Gc.quick_stat ()).heap_words > 2 * max !live words_at_least then (
    Gc.compact ();
    live := (Gc.quick_stat ()).heap_words)

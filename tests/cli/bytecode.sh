#!/bin/bash
# Programs of ocamlc: kept cores; as ocamlrun runs them, and with a runtime of their own.  What Gc.stat
# says is reachable, a frame is where the program itself says it is, and a capture needs no file of the
# program.
. tests/cli/lib.sh

# notes FILE: what could not be read.
notes() {
	run info --format json "$1"
	jq -r '.. | .note? // empty' "$work/out" >"$work/notes"
}

# Kept captures (tests/fixtures/bytecode/make), which have all that they need.
for core in "$fixtures"/bytecode/tiny-*.core.zst; do
	name=$(basename "$core" .core.zst)
	truth=${core%.core.zst}.txt
	summarize "$name" "$core"
	check_statistics
	check_equal "$name: all of the heap is reached" "$(total unreachable_heap_blocks)" 0
	run roots --limit 0 --format csv "$core"
	check_equal "$name: frames, with file and line" \
		"$(grep -c '^stack,Tiny.wait tiny.ml:26:26-47' "$work/out")" 10
	check "$name: a unit's global" grep -q '^global,Stdlib__Map\|^global,Stdlib,\|^global,Stdlib\[' \
		"$work/out"
	run info --format csv "$core"
	check "$name: bytecode" grep -q bytecode "$work/out"
	notes "$core"
	check_equal "$name: nothing is missing" "$(cat "$work/notes")" ''
done

# Values of the main module are on the stack while its code runs, and captured by closures.
for prof in "$fixtures"/bytecode/tiny-*.prof.zst; do
	name=$(basename "$prof" .prof.zst)
	core=${prof%.prof.zst}.core.zst
	summarize "$name, with types" --prof "$prof" "$core"
	check_equal "$name: shape clashes" "$(total shape_clashes)" 0
	check "$name: $(total typed_blocks) of $(total reachable_blocks) blocks are typed" \
		test $(($(total typed_blocks) * 100)) -ge $(($(total reachable_blocks) * 97))
	run top --by type --prof "$prof" --format csv "$core"
	for type in 'Tiny.item,200' 'Tiny.item option,100' 'Tiny.item Map.Make(String).t,200' \
		'(int -> int) list,20'; do
		check "$name: blocks of $type" grep -qF "$type," "$work/out"
	done
done

# A script is no executable, and no bytecode of native code.
printf '#!/bin/sh\n' >"$work/script"
refuses 'a script' 3 summary --exe "$work/script" "$fixtures/cores/tiny-4.13.1.core.zst"
check 'a script: says why' grep -qF \
	"$work/script: is not an ELF file, nor is it the bytecode of 'tiny', which is native code" "$work/err"

# Cores of gcore, with the file of the program beside them.
for truth in ../shared/data/versions/bytecode/*.truth; do
	[ -e "$truth" ] || continue
	name=$(basename "$truth" .truth)
	folder=$(dirname "$truth")
	exe=$folder/$name
	[ -e "$exe" ] || exe=$folder/$name.zst
	summarize "$name" --exe "$exe" "$folder/$name.core.zst"
	check_equal "$name: live blocks" "$(total live_blocks)" "$(sed -n 's/^live_blocks //p' "$truth")"
	check_equal "$name: live words" "$(total live_words)" "$(sed -n 's/^live_words //p' "$truth")"
done

if is_sanitized || ! command -v ocamlc >/dev/null || ! command -v gcore >/dev/null; then
	skip 'programs of bytecode' 'no ocamlc or gcore, or another program is under test'
	exit 0
fi

cat >"$work/marked.ml" <<'END'
type marked = { id : int; payload : int array }
let make i = { id = i; payload = Array.make 5 (1000000 + i) }
let globals = Array.init 100 make
let closures = Array.init 50 (fun i -> let m = make i in fun x -> x + m.id)
let say () =
  Gc.full_major (); Gc.full_major ();
  Printf.printf "%d\nREADY\n%!" (Gc.stat ()).Gc.live_blocks;
  try ignore (input_char stdin) with End_of_file -> ()
let rec deep n =
  let m = make n in
  (if n = 0 then say () else deep (n - 1));
  ignore (Sys.opaque_identity m)
let () = deep 200
END
cat >"$work/threads.ml" <<'END'
let mutex = Mutex.create () and condition = Condition.create ()
let waiting = ref 0
let rec wait n =
  let m = Array.make 5 (1000000 + n) in
  (if n > 0 then wait (n - 1)
   else (Mutex.lock mutex; incr waiting; Condition.wait condition mutex; Mutex.unlock mutex));
  ignore (Sys.opaque_identity m)
let () =
  let threads = List.init 5 (fun _ -> Thread.create wait 20) in
  while !waiting < 5 do Thread.yield () done;
  Gc.full_major (); Gc.full_major ();
  Printf.printf "%d\nREADY\n%!" (Gc.stat ()).Gc.live_blocks;
  (try ignore (input_char stdin) with End_of_file -> ());
  Mutex.lock mutex; Condition.broadcast condition; Mutex.unlock mutex;
  List.iter Thread.join threads
END
cat >"$work/host.ml" <<'END'
let () = Dynlink.loadfile Sys.argv.(1)
END
(
	cd "$work"
	ocamlc -g -o marked.bc marked.ml
	ocamlc -g -custom -o custom marked.ml
	ocamlc -g -output-complete-exe -o complete marked.ml
	ocamlc -g -I +threads unix.cma threads.cma threads.ml -o threads.bc
	ocamlc -g -linkall dynlink.cma host.ml -o host.bc
) >"$work/compile" 2>&1 || not_ok 'compile' "$(gist "$work/compile")"

# reaches FILE LIVE: what Gc.stat counted, and what was made to print it.
reaches() {
	summarize "$(basename "$1")" "$1"
	check "$(basename "$1"): $(total reachable_blocks) reachable, $2 live" \
		test "$(total reachable_blocks)" -ge "$2" -a "$(total reachable_blocks)" -le $(($2 + 60))
	check_equal "$(basename "$1"): live blocks" "$(total live_blocks)" "$2"
}

# names FILE: the frames of the recursion, and what a unit holds.
names() {
	run roots --limit 0 --format csv "$1"
	check_equal "$(basename "$1"): frames of the recursion hold m and their closure" \
		"$(grep -c 'Marked.deep marked.ml:11:29-41' "$work/out")" 400
	check "$(basename "$1"): a unit's global" grep -q 'Stdlib__Hashtbl\|Stdlib__Array' "$work/out"
}

# looks NAME COMMAND...: $work/NAME.core and $work/NAME.captured of it.
looks() {
	local name=$1 process live
	shift
	rm -f "$work/in"
	mkfifo "$work/in"
	: >"$work/said" # READY of an earlier one does not count
	"$@" <"$work/in" >"$work/said" 2>&1 &
	process=$!
	exec 3>"$work/in"
	until grep -q READY "$work/said" || ! kill -0 "$process"; do
		sleep 0.05
	done
	gcore -o "$work/$name" "$process" >"$work/gcore.out" 2>&1
	run capture -p "$process" -o "$work/$name.captured"
	check_equal "$name: capture" "$status" 0
	check "$name: at a good moment" grep -q 'consistency clean' "$work/err"
	exec 3>&-
	wait "$process" || true
	mv "$work/$name.$process" "$work/$name.core"
	live=$(sed -n '/^[0-9]*$/p' "$work/said" | head -n 1)
	for file in "$work/$name.core" "$work/$name.captured"; do
		reaches "$file" "$live"
	done
}

looks script ocamlrun "$work/marked.bc"
names "$work/script.core"
looks relative env -C "$work" ocamlrun ./marked.bc
names "$work/relative.core" # found beside the core
looks custom "$work/custom"
names "$work/custom.core"
looks complete "$work/complete"
notes "$work/complete.core"
check 'complete: why there are no names' grep -q 'have no debug information' "$work/notes"

# The library of threads is one that ocamlrun loads.
looks threads ocamlrun "$work/threads.bc"
run roots --limit 0 --format csv "$work/threads.captured"
check_equal 'threads: frames of all stacks' \
	"$(grep -c '^stack,Threads.wait threads.ml:5:17-29 (thread' "$work/out")" 200

(cd "$work" && ocamlc -g -c marked.ml)
looks loaded ocamlrun "$work/host.bc" "$work/marked.cmo"
run roots --limit 0 --format csv "$work/loaded.captured"
check_equal 'loaded: frames of code that the program has loaded' \
	"$(grep -c 'Marked.deep marked.ml:11:29-41' "$work/out")" 400

# A capture has what it needs; another core says what it lacks, and takes no other program for it.
mkdir "$work/away"
mv "$work/script.core" "$work/script.captured" "$work/custom.captured" "$work/away"
mv "$work/marked.bc" "$work/other.name"
rm "$work/custom"
names "$work/away/script.captured"
names "$work/away/custom.captured"
notes "$work/away/script.core"
check_equal 'without its file: is read' "$status" 0
check 'without its file: says what to name' grep -q 'name it with --exe' "$work/notes"
run roots --exe "$work/other.name" --limit 0 --format csv "$work/away/script.core"
check_equal 'the file by another name' \
	"$(grep -c 'Marked.deep marked.ml:11:29-41' "$work/out")" 400
refuses 'another program' 3 summary --exe "$work/host.bc" "$work/away/script.core"
check 'another program: says so' grep -q 'is not the bytecode of the process' "$work/err"

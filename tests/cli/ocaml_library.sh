# The OCaml library: builds, dumps by every trigger, disturbs nothing, and what it writes is read.
# With the compiler of the PATH, or with that of OCAML_PREFIX ('make test-ocaml-5.3.0').
# shellcheck shell=bash
. tests/cli/lib.sh

programs=$top/tests/ocaml_lib
unset HEAPGRAPH OCAMLRUNPARAM OCAMLFIND_CONF OCAMLPATH
# What make was told for the command, sanitizers for example, is not for the library.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL CFLAGS LDFLAGS CC

# check_lines NAME FILE LINE...: the file is these lines.
check_lines() {
	local name=$1 file=$2
	shift 2
	printf '%s\n' "$@" >"$work/wanted"
	check_same "$name" "$file" "$work/wanted"
}

# processes_of PROGRAM: how many there are.
processes_of() {
	find /proc/[0-9]*/exe -maxdepth 0 -lname "$folder/$1" 2>/dev/null | wc -l
}

# act NAME ARGUMENT...: runs a program in an empty folder; all it says is in $work/said.  Variables
# of the environment come before: HEAPGRAPH=m act ...  Nothing that it started outlives it.
act() {
	local name=$1 program=$2
	shift 2
	rm -rf "$work/here"
	mkdir "$work/here"
	status=0
	(cd "$work/here" && timeout 120 "$folder/$program" "$@") >"$work/said" 2>"$work/complaints" \
		</dev/null || status=$?
	local left
	left=$(processes_of "$program")
	check_equal "$name: ends well and alone, says nothing else" \
		"$status $left $(gist "$work/complaints")" '0 0 '
}

dumps_here() {
	find "$work/here" -type f | wc -l
}

# readable NAME FILE: heapgraph knows whose it is, by its version too.
readable() {
	run info --format csv "$2"
	check_equal "$1" "$(sed -nE 's/^producer,(program|ocaml_version),//p' "$work/out" | xargs)" \
		"actions $version"
}

# compile PROGRAM LIBRARY...: with the library and others of the compiler, without findlib.
compile() {
	local program=$1
	shift
	cp "$programs/$program.ml" "$folder/"
	(cd "$folder" && "$opt" -g -w +a-4-9-40..42-44-45-70 -I +unix -I +threads -I heapgraph \
		"$@" heapgraph.cmxa "$program.ml" -o "$program")
}

build_all() {
	check "$label: make without dune" nice -n 19 make -s -C "$top/ocaml" BUILD="$folder/heapgraph" \
		OCAMLC="$byte" OCAMLOPT="$opt"
	check "$label: a program without findlib" compile actions unix.cmxa
	check "$label: a program with threads" compile threads unix.cmxa threads.cmxa
	case $version in
	5.*) check "$label: a program with domains" compile domains unix.cmxa ;;
	esac
}

test_calls() {
	local pid
	act "$label dump_heap" actions names
	pid=$(sed -n 's/^pid //p' "$work/said")
	check_lines "$label dump_heap: names, numbers, statistics, and no output of the child" \
		"$work/said" before "pid $pid" "files heap.dump.$pid.0 heap.dump.$pid.1" \
		'there true true' "stats true 1 'a name = 50%' 1" 'sane true true true true' 'at exit'
	check_equal "$label dump_heap: nothing else is written" "$(dumps_here)" 2
	readable "$label dump_heap: info says what it is" "$work/here/heap.dump.$pid.0"
	run info --format csv "$work/here/heap.dump.$pid.1"
	check "$label dump_heap: info says the name it was given" grep -q 'a name = 50%' "$work/out"
	if command -v gdb >/dev/null; then
		gdb -nx -batch -ex bt "$folder/actions" "$work/here/heap.dump.$pid.0" \
			>"$work/gdb" 2>&1 || true
		check "$label dump_heap: gdb shows the way to it" grep -q 'heapgraph_dump' "$work/gdb"
		check "$label dump_heap: gdb shows main" grep -q '\<main *(' "$work/gdb"
	else
		skip "$label dump_heap: gdb" 'there is no gdb'
	fi

	act "$label children" actions children
	check_lines "$label children: wait and SIGCHLD of the program see its own only" "$work/said" \
		'signals 0, children 0' 'no child' 'own child true 7' 'signals 1, children 0'
}

test_triggers() {
	act "$label SIGHUP" actions hup
	check_lines "$label SIGHUP: two signals, two dumps" "$work/said" '1 SIGHUP'

	act "$label plain" actions plain
	check_lines "$label plain: the result" "$work/said" 'result 77420'
	check_equal "$label plain: no dump unasked" "$(dumps_here)" 0

	HEAPGRAPH=m act "$label m" actions busy 3
	check_lines "$label m: the program's result, no zombie" "$work/said" \
		'result 77420' 'trigger major collection' 'zombies 0'

	mkdir -p "$work/there"
	HEAPGRAPH=m=2,dir=$work/there act "$label m=2,dir" actions busy 2
	check_equal "$label m=2,dir: none in the current folder" "$(dumps_here)" 0
	check "$label m=2,dir: two there" test -f "$(echo "$work"/there/heap.dump.*.1)"
	check "$label m=2,dir: no part of a file" test -z "$(find "$work/there" -name '*.part*')"
	HEAPGRAPH=m,dir=. act "$label dir=." actions busy 1
	check "$label dir=.: the current folder" test -f "$(echo "$work"/here/heap.dump.*.0)"
	HEAPGRAPH=m=1000 act "$label m=1000" actions majors 9
	check_equal "$label m=1000: not after nine" "$(dumps_here)" 0
	HEAPGRAPH=m=5 act "$label m=5" actions majors 9
	check_equal "$label m=5: one after nine, complete when the program has ended" "$(dumps_here)" 1

	HEAPGRAPH=p=0.2 act "$label p" actions busy 3
	check_lines "$label p: the program's result, no zombie" "$work/said" \
		'result 77420' 'trigger period' 'zombies 0'
	readable "$label p: info says what it is" "$(echo "$work"/here/heap.dump.*.1)"
	rm -rf "$work/there"
}

# says_ignored VALUE: it is refused in one line, and the program goes on.
says_ignored() {
	status=0
	(cd "$work/here" && HEAPGRAPH=$1 "$folder/actions" plain) \
		>"$work/said" 2>"$work/complaints" || status=$?
	check_equal "$label HEAPGRAPH=$1: the program goes on" "$status $(cat "$work/said")" \
		'0 result 77420'
	check_equal "$label HEAPGRAPH=$1: one line" \
		"$(sed 's/: .*ignored: .*/: ignored/' "$work/complaints")" 'heapgraph: ignored'
}

test_errors() {
	local value
	rm -rf "$work/here"
	mkdir "$work/here"
	for value in x m= m=0 m=-1 m=x p p=0 p=x p=nan dir dir= 'm,' p=1,q=2; do
		says_ignored "$value"
	done
	check_equal "$label ignored: no dump" "$(dumps_here)" 0

	HEAPGRAPH=dir=$work/none act "$label no folder" actions refused
	check "$label no folder: Sys_error says which" \
		grep -q "^Sys_error $work/none/heap.dump.*: No such file or directory$" "$work/said"
	(cd "$work/here" && ulimit -f 100 && "$folder/actions" refused) >"$work/said" 2>&1 || true
	check "$label file too large: Sys_error says so" \
		grep -q '^Sys_error .*: File too large$' "$work/said"
	check_equal "$label file too large: nothing stays behind" "$(dumps_here)" 0
	(cd "$work/here" && HEAPGRAPH=m,dir=$work/none "$folder/actions" majors 20) \
		>"$work/said" 2>"$work/complaints" || true
	check_lines "$label unattended: the program goes on" "$work/said" 'done'
	check_equal "$label unattended: one line for all failures" \
		"$(grep -c 'No such file or directory$' "$work/complaints") $(wc -l <"$work/complaints")" \
		'1 1'
}

test_sampling() {
	act "$label sample" actions samples
	case $version in
	5.[012].*)
		check_equal "$label sample: Error, and why" "$(grep -c \
			'^Error OCaml 5.* cannot sample: Gc.Memprof is missing in 5.0 to 5.2' "$work/said")" 3
		;;
	*)
		check_lines "$label sample: a stack for each block, no second profiler" "$work/said" \
			Ok 'Error it is sampling already' 'stacks for all' 'forgotten true' \
			'Error the rate 0 is not in ]0, 1]' Ok \
			'Error another profiler is using Gc.Memprof'
		;;
	esac
}

test_threads() {
	act "$label threads" threads
	check_equal "$label threads: five dumps, the result" \
		"$(dumps_here) $(tail -n 1 "$work/said")" '5 held 61500'
	case $version in
	5.*)
		act "$label domains" domains
		check_equal "$label domains: seven dumps, the result" \
			"$(dumps_here) $(tail -n 1 "$work/said")" '7 held 61500'
		check_equal "$label domains: the first four stop four domains" \
			"$(head -n 4 "$work/said" | sed 's/.* //' | sort -u)" 4
		;;
	esac
}

# held DUMP: how many reachable blocks of 41 words it has.
held() {
	run objects --format csv "$1"
	columns words reachable <"$work/out" | grep -cx '41[[:space:]]1' || true
}

# test_held PROGRAM: what only stacks hold is found in every dump between the first and the last that
# it asked for itself.
test_held() {
	local program=$1 first last number path
	HEAPGRAPH=p=0.02 act "$label $program" "$program"
	first=$(sed -n '1s/^heap\.dump\.[0-9]*\.\([0-9]*\).*/\1/p' "$work/said")
	last=$(sed -n 's/^heap\.dump\.[0-9]*\.\([0-9]*\).*/\1/p' "$work/said" | sort -n | tail -n 1)
	check "$label $program: five dumps at least" test "$((last - first))" -ge 4
	number=$first
	while [ "$number" -le "$last" ]; do
		path=$(echo "$work"/here/heap.dump.*."$number")
		summarize "$label $program, dump $number" "$path"
		check_equal "$label $program, dump $number: all blocks that only stacks hold" \
			"$(held "$path")" 1500
		number=$((number + 1))
	done
}

test_contents() {
	local file blocks
	act "$label live" actions live
	read -r file blocks <"$work/said"
	summarize "$label live" "$work/here/$file"
	check_equal "$label live: blocks and words of the major heap are those of Gc.stat" \
		"$(total live_blocks) $(total live_words)" "$blocks"
	test_held threads
	case $version in
	5.*) test_held domains ;;
	esac
	case $version in
	5.[012].*) return 0 ;;
	esac
	# 100,000 blocks of 4 words at 1/1000: 399 are sampled, give or take 20.
	act "$label sampled" actions sampled
	run top --by location --format csv "$work/here/$(cat "$work/said")"
	columns location blocks bytes <"$work/out" | grep '^actions\.ml:' | sort -k 2nr | head -n 1 \
		>"$work/busiest"
	read -r _ blocks bytes <"$work/busiest"
	check "$label sampled: as many samples at the line as the rate says" \
		test "$blocks" -gt 280 -a "$blocks" -lt 520
	check_equal "$label sampled: of the blocks that are allocated there" "$bytes" \
		"$((blocks * 32))"
}

# try_example NAME FILE: an example of the documentation compiles, is of types that leave nothing out,
# and does what it says.
try_example() {
	local name="$label example of $1"
	check "$name: is there" test -s "$2"
	rm -rf "$work/here"
	mkdir "$work/here"
	cp "$2" "$work/example.ml"
	check "$name: compiles" "$opt" -strict-sequence -w +5+10 -warn-error +a -I "$folder/heapgraph" \
		heapgraph.cmxa "$work/example.ml" -o "$folder/example"
	(cd "$work/here" && "$folder/example") >"$work/said" 2>"$work/complaints" || true
	check "$name: names a file" test -f \
		"$work/here/$(sed -n 's/^heapgraph summary //p' "$work/said")"
	case $version in
	5.[012].*) check "$name: says why" grep -q 'no locations: .* cannot' "$work/complaints" ;;
	*) check "$name: has nothing to complain of" test ! -s "$work/complaints" ;;
	esac
}

test_examples() {
	sed -n '/^    {\[$/,/^    \]}/p' "$top/ocaml/heapgraph.mli" | sed '1d;$d' >"$work/interface.ml"
	try_example 'the interface' "$work/interface.ml"
	sed -n '/^```ocaml$/,/^```$/{/^```/d;p}' "$top/docs/ocaml-library.md" >"$work/page.ml"
	try_example 'the documentation' "$work/page.ml"
	check "$label example of the documentation: how long it stood still" \
		grep -qE '^stood still for [0-9]+\.[0-9] ms$' "$work/said"
}

# with_compiler LABEL OCAMLC OCAMLOPT
with_compiler() {
	label=$1 byte=$2 opt=$3
	version=$("$opt" -version)
	folder=$work/$label
	mkdir "$folder"
	build_all
	[ -x "$folder/actions" ] && [ -x "$folder/threads" ] || return 0
	test_calls
	test_triggers
	test_errors
	test_sampling
	test_threads
	test_contents
	test_examples
}

# The findlib package, as make and as dune build it; a program that does not name the library obeys
# HEAPGRAPH.
with_findlib() {
	local path=$1
	label=$2
	folder=$work/$label
	mkdir "$folder"
	cp "$programs/actions.ml" "$folder/"
	echo 'let () = Gc.full_major ()' >"$folder/stranger.ml"
	for program in actions stranger; do
		check "$label: ocamlfind ocamlopt -package heapgraph $program" env OCAMLPATH="$path" \
			ocamlfind ocamlopt -package heapgraph,unix -linkpkg "$folder/$program.ml" \
			-o "$folder/$program"
	done
	act "$label" actions names
	check_equal "$label: two dumps" "$(dumps_here)" 2
	HEAPGRAPH=m act "$label stranger" stranger
	check_equal "$label: a program that does not name the library dumps" "$(dumps_here)" 1
	check "$label: bytecode links" env OCAMLPATH="$path" ocamlfind ocamlc -custom \
		-package heapgraph,unix -linkpkg "$folder/actions.ml" -o "$folder/bytecode"
	(cd "$folder" && ./bytecode names) >"$work/said" 2>&1 || true
	check "$label: bytecode is told that it cannot" grep -q 'this one is bytecode' "$work/said"
}

with_dune() {
	check 'dune: builds' nice -n 19 env DUNE_CACHE=disabled dune build --root "$top" \
		--build-dir "$work/dune.build" @install
	with_findlib "$work/dune.build/install/default/lib" dune
	with_dune_rule "$work/dune.build/install/default/bin"
}

# The rule of docs/exe-prof.md, in a project of a library and a program.
with_dune_rule() {
	local project=$work/project
	mkdir -p "$project/shelf" "$project/program"
	echo '(lang dune 2.9)' >"$project/dune-project"
	sed -n '/^    (rule$/,/^$/s/^    //p' docs/exe-prof.md >"$project/dune"
	echo '(library (name shelf))' >"$project/shelf/dune"
	printf 'type t\nval make : string -> t\n' >"$project/shelf/item.mli"
	printf 'type t = { label : string }\nlet make label = { label }\n' >"$project/shelf/item.ml"
	echo '(executable (name main) (libraries shelf))' >"$project/program/dune"
	echo 'let all = [ Shelf.Item.make "a" ]' >"$project/program/main.ml"
	check 'dune: the rule makes exe.prof' nice -n 19 env DUNE_CACHE=disabled PATH="$1:$PATH" \
		dune build --root "$project" exe.prof
	cp "$project/_build/default/exe.prof" "$work/exe.prof" || true
	check 'dune: a type that its interface hides is looked through' \
		grep -q '^D [0-9]* Shelf\.Item\.t 0/[0-9]*/0 R label:' "$work/exe.prof"
	check 'dune: the program is in it' grep -q '^g Dune__exe__Main 1 all:' "$work/exe.prof"
}

if [ -n "${OCAML_PREFIX-}" ]; then
	with_compiler "$(basename "$OCAML_PREFIX")" "$OCAML_PREFIX/bin/ocamlc" \
		"$OCAML_PREFIX/bin/ocamlopt"
elif ! command -v ocamlopt >/dev/null; then
	skip 'the OCaml library' 'no OCaml is installed'
else
	with_compiler installed ocamlc ocamlopt
	if command -v ocamlfind >/dev/null; then
		with_findlib "$work/installed" findlib
	else
		skip 'findlib package' 'ocamlfind is not installed'
	fi
	if command -v dune >/dev/null; then
		with_dune
	else
		skip 'dune' 'dune is not installed'
	fi
fi

#!/bin/bash
# Calls of the system that fail: memory, files, output.  tests/faults/sweep.c says what is right;
# make stress-faults tries every call, here are samples, more of them with THOROUGH=1.
. tests/cli/lib.sh

if is_sanitized; then
	skip 'failing calls' 'a preloaded allocator and a sanitizer exclude each other'
	exit 0
fi

files=$work/files place=$work/place
mkdir "$files" "$place"
for name in tiny-4.13.1.core tiny-4.13.1.prof; do
	zstd -dqf "$fixtures/cores/$name.zst" -o "$files/$name"
done
core=$files/tiny-4.13.1.core prof=$files/tiny-4.13.1.prof

# fails FAULT ARGUMENT...: heapgraph with a failing call.
fails() {
	local fault=$1
	shift
	status=0
	timeout 60 env FAULT="$fault" LD_PRELOAD="$BUILD/faults.so" "$hg" "$@" \
		>"$work/out" 2>"$work/err" </dev/null || status=$?
}

# gives_up NAME FAULT ARGUMENT...: it ends with 5 and one line that says why.
gives_up() {
	local name=$1
	shift
	fails "$@"
	if [ "$status" -ne 5 ]; then
		not_ok "$name" "exit $status, not 5: $(gist "$work/err")"
	elif ! one_line; then
		not_ok "$name" "not one line on stderr: $(gist "$work/err")"
	else
		ok "$name"
	fi
}

# Memory that runs out in functions that have no way to say so.  Which calls theirs are depends on the C
# library, and some that others make it does without: then all is said as ever.
why="why type:string --prof $prof --threads 3 $core"
# shellcheck disable=SC2086 # words
"$hg" $why >"$work/whole"
compiling=0 matching=0
for fault in $(seq -f 'malloc:%g' 80 3 150); do
	# shellcheck disable=SC2086 # words
	fails "$fault" $why
	case $status in
	0) check_same "regular expression without memory, $fault" "$work/out" "$work/whole" ;;
	5) check "regular expression without memory, $fault" one_line ;;
	*) not_ok "regular expression without memory, $fault" "exit $status: $(gist "$work/err")" ;;
	esac
	! grep -q "'string': " "$work/err" || compiling=$((compiling + 1))
	! grep -q 'while a regular expression was matched' "$work/err" || matching=$((matching + 1))
done
check 'regular expression without memory, while it is compiled' test $compiling -gt 0
check 'regular expression without memory, while it is matched' test $matching -gt 0
# shellcheck disable=SC2086 # words
gives_up 'text without memory' realloc:20:on summary --format json "$core"
gives_up 'no memory at all' calloc:1:on summary "$core"

# Folders are read only for who asks for what is in them.
locations=$v01/tiny/t1.prof
for key in tag location module; do
	fails readdir:1:on top --by $key --prof "$locations" "$tiny"
	check_equal "by $key no folder is searched for types" "$status" 0
done
fails readdir:1:on top --by type --prof "$locations" "$tiny"
check_equal 'by type folders are searched for types' "$status" 3

# What Graphviz does then is done in another process.
picture=$place/x.svg
for fault in child-malloc:1 child-malloc:200:on child-calloc:300:on child-write:1 fork:1; do
	gives_up "picture, $fault" "$fault" dot -o "$picture" --prof "$prof" "$core"
	check "picture, $fault: no file" test -z "$(ls -A "$place")"
done
gives_up 'DOT, no process for it' fork:1 dot "$core"
check 'DOT, no process for it: nothing is written' test ! -s "$work/out"

# A sample of all calls, of each verb another one.
sample() {
	local name=$1
	shift
	check "one call of many fails: $name" sweep_in_place "$@"
}

# sweep_in_place OPTION... -- ARGUMENT...
sweep_in_place() {
	local options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	(cd "$place" && "$BUILD/sweep" "${options[@]}" "$BUILD/faults.so" "$hg" "$@")
}

dump=$top/$cache0
# Of each kind of call some of the first, and then one in so many: all kinds are in both samples.
if is_thorough; then
	first=(-f 6) few=(-f 6) denser=1
else
	# A process of Graphviz that cannot read, once it has begun, works until its limit of time.
	first=(-f 3) few=(-f 2) denser=5
fi
sample 'summary --format json' "${first[@]}" -e $((37 * denser)) -- summary --format json --prof "$prof" "$core"
sample 'why' "${first[@]}" -e $((41 * denser)) -- why type:string --prof "$prof" --threads 3 "$core"
sample 'top of a compressed core' "${first[@]}" -e $((43 * denser)) -- top --by type \
	--prof "$top/$fixtures/cores/tiny-5.3.0.prof.zst" "$top/$fixtures/cores/tiny-5.3.0.core.zst"
sample 'objects -o' "${first[@]}" -e $((29 * denser)) -o x.csv -- objects --format csv -o x.csv "$core"
sample 'tree' "${first[@]}" -e $((401 * denser)) -- tree --format json "$dump"
sample 'diff' "${first[@]}" -e $((29 * denser)) -- diff "$dump" "$top/$cache5"
sample 'dot -o x.svg' "${few[@]}" -e $((61 * denser)) -c 20000 -o x.svg -- dot -o x.svg --prof "$prof" "$core"

# Helpers of tests/cli/*.sh, which run from the top of the repository with BUILD in the environment:
#
#     . tests/cli/lib.sh
#     check 'name of the check' command arguments...
#
# Every check prints one line: 'ok NAME', 'not ok NAME: why' or 'skip NAME: why'.
# shellcheck shell=bash disable=SC2034 # variables are for the scripts
set -eu
export LC_ALL=C
unset NO_COLOR TERM

BUILD=$(cd "${BUILD:-build}" && pwd)
top=$PWD
hg=$BUILD/heapgraph
fixtures=tests/fixtures
v01=$fixtures/v01
tiny=$v01/tiny/heap.dump.29370.0
cache0=$v01/cache-dump/heap.dump.8975.0
cache2=$v01/cache-dump/heap.dump.8975.2.zst
cache5=$v01/cache-dump/heap.dump.8975.5.zst
# More dumps, with the same layout as tests/fixtures; used where they are.
more=${MORE_DUMPS:-../shared/data/legacy}
# Cores of real programs that say what is true of them; too large for the repository.
cores=${CORES:-../shared/data/cores}

# is_sanitized: the command was built with AddressSanitizer, which wants much memory and time.
ldd "$hg" | grep -q libasan && sanitized=yes || sanitized=no
is_sanitized() {
	[ $sanitized = yes ]
}

# is_brief: sanitizers make runs long, and not all is wanted.
is_brief() {
	is_sanitized && ! is_thorough
}

export LSAN_OPTIONS=suppressions=$top/tests/cli/leaks.supp:print_suppressions=0

# is_thorough: all is wanted, however long it takes ('make test-all'); otherwise samples are enough.
is_thorough() {
	[ -n "${THOROUGH-}" ]
}

# To look for leaks is half the time of a short run: done in every fourth of run().
runs=0
asan_options=${ASAN_OPTIONS-}
is_thorough || export ASAN_OPTIONS=$asan_options:detect_leaks=0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

ok() {
	echo "ok $1"
}

not_ok() {
	echo "not ok $1: $2"
}

skip() {
	echo "skip $1: $2"
}

# jq 1.6 ends with 0 if there is nothing to read, also with -e.
jq() {
	if [ -f "${*: -1}" ] && [ ! -s "${*: -1}" ]; then
		echo "jq: ${*: -1} is empty" >&2
		return 4
	fi
	command jq "$@"
}

# The first lines of a file in one line, for reasons.
gist() {
	head -n "${2:-3}" "$1" | tr '\n\t' '| ' | tr -dc '[:print:]' | cut -c 1-200
}

# check NAME COMMAND...: the command succeeds.
check() {
	local name=$1
	shift
	if "$@" >"$work/check.out" 2>&1; then
		ok "$name"
	else
		not_ok "$name" "exit $? of '$*' $(gist "$work/check.out")"
	fi
}

# check_same NAME FILE1 FILE2: they are equal.
check_same() {
	if diff "$2" "$3" >"$work/check.diff" 2>&1; then
		ok "$1"
	else
		not_ok "$1" "$(gist "$work/check.diff" 4)"
	fi
}

# check_equal NAME GOT WANTED
check_equal() {
	if [ "$2" = "$3" ]; then
		ok "$1"
	else
		not_ok "$1" "got '$2', wanted '$3'"
	fi
}

# run ARGUMENT...: runs heapgraph; output in $work/out and $work/err, exit status in $status.
run() {
	local leaks=0
	status=0
	[ $((runs++ % 4)) -ne 0 ] && ! is_thorough || leaks=1
	ASAN_OPTIONS=$asan_options:detect_leaks=$leaks timeout 120 "$hg" "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
}

# check_run NAME STATUS ARGUMENT...: heapgraph ends with this status, and is quiet on stderr if it
# is 0.
check_run() {
	local name=$1 wanted=$2
	shift 2
	run "$@"
	if [ "$status" -ne "$wanted" ]; then
		not_ok "$name" "exit $status, not $wanted: $(gist "$work/err")"
	elif [ "$wanted" -eq 0 ] && [ -s "$work/err" ]; then
		not_ok "$name" "stderr: $(gist "$work/err")"
	else
		ok "$name"
	fi
}

# one_line: stderr of the last run is one line that begins 'heapgraph: '.
one_line() {
	local lines
	mapfile lines <"$work/err"
	[ ${#lines[@]} -eq 1 ] && [[ ${lines[0]} == 'heapgraph: '*$'\n' ]]
}

# refuses NAME STATUS ARGUMENT...: heapgraph fails with this status, one line on stderr and nothing
# on stdout; with 'offset' as third argument before those of heapgraph, the line names an offset.
refuses() {
	local name=$1 wanted=$2 offset=no
	shift 2
	if [ "$1" = offset ]; then
		offset=yes
		shift
	fi
	run "$@"
	if [ "$status" -ne "$wanted" ]; then
		not_ok "$name" "exit $status, not $wanted: $(gist "$work/err")"
	elif ! one_line; then
		not_ok "$name" "not one line on stderr: $(gist "$work/err")"
	elif [ -s "$work/out" ]; then
		not_ok "$name" "on stdout: $(gist "$work/out")"
	elif [ "$offset" = yes ] && ! grep -q ', at offset [0-9]*$' "$work/err"; then
		not_ok "$name" "no offset: $(gist "$work/err")"
	else
		ok "$name"
	fi
}

# is_emulated: the command is of another processor than the machine (tests/run).
is_emulated() {
	[ -n "${EMULATOR-}" ]
}

# columns NAME...: of the CSV on stdin.
columns() {
	tests/columns "$@"
}

# Pieces of a 0.1 dump, for files made by hand: a byte, a word, and records of words.
byte() {
	local octal
	printf -v octal '\\0%o' "$1"
	printf '%b' "$octal"
}

# Without a process for each byte: of some tests these were most of the time.
word() {
	local number=$1 text='' octal i
	for i in 0 8 16 24 32 40 48 56; do
		printf -v octal '\\0%o' $((number >> i & 255))
		text=$text$octal
	done
	printf '%b' "$text"
}

words() {
	local number
	for number; do
		word "$number"
	done
}

# plain FILE: path of the dump, decompressed if need be.
plain() {
	case $1 in
	*.zst)
		local path
		path=$work/$(basename "$(dirname "$1")")-$(basename "$1" .zst)
		[ -f "$path" ] || zstd -dqf "$1" -o "$path"
		echo "$path"
		;;
	*) echo "$1" ;;
	esac
}

# dumps_in FOLDER: the dumps below it, by name.
dumps_in() {
	find "$1" -type f \( -name 'heap.dump.*' -o -name 'memprof.*.dump' -o -name 'memprof.*.dump.zst' \) | sort
}

# index_of DUMP: its number N, as in expected/indep-N.txt.
index_of() {
	basename "$1" .zst | sed -nE 's/^heap\.dump\.[0-9]+\.([0-9]+)$/\1/p
		s/^memprof\.[0-9]+\.([^.]*\.)?([0-9]+)(\.[^.]*)?\.dump$/\2/p'
}

# has_more: there are more dumps, and time for them.
has_more() {
	[ -d "$more" ] && ! is_sanitized
}

# more_dumps: those below $more, by name; of those of one folder, which are of one program, the last.
more_dumps() {
	if is_thorough; then
		dumps_in "$more"
	else
		dumps_in "$more" | awk '{
			folder = $0
			sub(/[^\/]*$/, "", folder)
			if (folder != before && before != "") print last
			before = folder
			last = $0
		} END { print last }'
	fi
}

# summarize NAME ARGUMENT...: the summary, in $work/summary; its sums agree and no pointer leads nowhere.
summarize() {
	local name=$1
	shift
	run summary --format json "$@"
	cp "$work/out" "$work/summary"
	check_equal "$name: summary" "$status $(gist "$work/err")" '0 '
	check_equal "$name: no dangling pointer, and all adds up" \
		"$(total dangling_pointers) $(jq -c '.reconciliation | map(.) | unique' "$work/summary")" \
		'0 [true]'
}

# total KEY: of that summary.
total() {
	jq -r ".totals.$1" "$work/summary"
}

# said LINE FIELD: what a program printed of itself into $truth, for example: said STAT live_words.
said() {
	sed -nE "s/^$1 (.* )?$2=([^ ]*).*/\2/p" "$truth"
}

# check_statistics: the summary has the numbers of Gc.stat that $truth has.
check_statistics() {
	check_equal "$name: live blocks" "$(total live_blocks)" "$(said STAT live_blocks)"
	check_equal "$name: live words" "$(total live_words)" "$(said STAT live_words)"
	check_equal "$name: free bytes" "$(total free_bytes)" $((8 * $(said STAT free_words)))
	check_equal "$name: heap bytes" "$(total heap_bytes)" $((8 * $(said STAT heap_words)))
}

# has_cores: there are cores of real programs.
has_cores() {
	[ -d "$cores" ]
}

# unpack_cores FOLDER...: what is in these folders of $cores, into $work, with holes; once, not for
# each command that reads it.
unpack_cores() {
	local folder file
	for folder; do
		mkdir -p "$work/$folder"
		for file in "$cores/$folder"/*.zst; do
			zstd -dqf "$file" -o "$work/$folder/$(basename "$file" .zst)"
		done
		cp "$cores/$folder"/out.txt "$work/$folder" 2>/dev/null || true
	done
}

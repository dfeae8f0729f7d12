# What run, stress and others share: compiling the programs, running them, capturing them, checks.
# shellcheck shell=bash disable=SC2034 # variables are for the scripts
set -eu
export LC_ALL=C

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
BUILD=$(cd "${BUILD:-$here/../../build}" && pwd)
hg=$BUILD/heapgraph
# Seconds that a program may take to get ready or to end, and heapgraph to answer.
patience=${PATIENCE:-120}

# is_thorough: all is wanted, however long it takes ('make test-all'); otherwise samples are enough.
is_thorough() {
	[ -n "${THOROUGH-}" ]
}

label=
passed=0 failed=0 total_passed=0 total_failed=0
pid=
work=$(mktemp -d)

# Only what was started here is ended.
clean_up() {
	[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null || true
	rm -rf "$work"
}
trap clean_up EXIT

ok() {
	passed=$((passed + 1))
}

not_ok() {
	echo "    $label: not ok $1: $2"
	failed=$((failed + 1))
}

# The first lines of a file in one line, for reasons.
gist() {
	head -n "${2:-3}" "$1" | tr '\n\t' '| ' | tr -dc '[:print:]' | cut -c 1-200
}

# check_equal NAME GOT WANTED
check_equal() {
	if [ "$2" = "$3" ]; then
		ok
	else
		not_ok "$1" "got '$2', wanted '$3'"
	fi
}

# end_case: one line for what was checked since the last one.
end_case() {
	printf '  %-32s %4d passed, %d failed\n' "$label" "$passed" "$failed"
	total_passed=$((total_passed + passed))
	total_failed=$((total_failed + failed))
	passed=0 failed=0
}

# sum_up: the last line; fails if anything failed or nothing was checked.
sum_up() {
	echo "$total_passed passed, $total_failed failed"
	[ "$total_failed" -eq 0 ] && [ "$total_passed" -gt 0 ]
}

# use_compiler PREFIX-OR-OCAMLOPT: sets ocamlopt, version, name and folder.
use_compiler() {
	if [ -d "$1" ]; then
		ocamlopt=$1/bin/ocamlopt
	else
		ocamlopt=$(command -v "$1") || {
			echo "no compiler '$1'" >&2
			exit 2
		}
	fi
	version=$("$ocamlopt" -version)
	name=$version
	if "$ocamlopt" -config | grep -qx 'flambda: true'; then
		name=$name-flambda
	fi
	case $1 in
	*-reserved21) name=$name-reserved21 ;;
	esac
}

# use_programs CASE: a folder of its own with the sources, as others may compile at the same time.
use_programs() {
	folder=$BUILD/ocaml/run-$name/$1
	rm -rf "$folder"
	mkdir -p "$folder"
	cp "$here"/programs/*.ml "$here"/programs/*.c "$folder"
}

# build_ocaml FOLDER TARGET...: what ocaml/Makefile makes with this compiler, in
# BUILD/ocaml/FOLDER-VERSION; once, whoever asks first.
build_ocaml() {
	local target=$BUILD/ocaml/$1-$name
	shift
	mkdir -p "$target"
	flock "$target.lock" make -s -C "$here/../../ocaml" BUILD="$target/heapgraph" \
		OCAMLC="$(dirname "$ocamlopt")/ocamlc" OCAMLOPT="$ocamlopt" "$@" >"$work/make" 2>&1 || {
		not_ok "build $*" "$(gist "$work/make" 20)"
		return 1
	}
	! grep -q 'Warning\|Alert' "$work/make" || not_ok "warnings of $*" "$(gist "$work/make" 20)"
}

# build_exporter: heapgraph-prof, in $exporter.
build_exporter() {
	build_ocaml prof prof || return 1
	exporter=$BUILD/ocaml/prof-$name/heapgraph/heapgraph-prof
}

# say_cases ARGUMENT CASE...: all that a script can do, if that is asked with --cases.
say_cases() {
	[ "$1" = --cases ] || return 0
	shift
	echo "$*"
	exit
}

# compile PROGRAM SOURCE...
compile() {
	local program=$1
	shift
	(cd "$folder" && "$ocamlopt" -g -I +unix -I +threads -I +dynlink -linkall \
		unix.cmxa threads.cmxa dynlink.cmxa "$@" -o "$program") >"$work/compile" 2>&1 || {
		not_ok "compile $program" "$(gist "$work/compile")"
		return 1
	}
}

# The reader of 4.14 and before follows no static data, and its programs have one domain.
is_flambda() {
	case $name in
	*-flambda*) ;;
	*) return 1 ;;
	esac
}

is_ocaml5() {
	case $version in
	5.*) return 0 ;;
	*) return 1 ;;
	esac
}

# compile_plugin: the same module in the host and, as an interface only, in the plugin.
compile_plugin() {
	compile plugin_host plugin_api.ml report.ml plugin_host.ml stubs.c || return 1
	(cd "$folder" && "$ocamlopt" -g -shared plugin.ml -o plugin.cmxs) >"$work/compile" 2>&1 || {
		not_ok 'compile plugin.cmxs' "$(gist "$work/compile")"
		return 1
	}
}

# start PROGRAM ARGUMENT...: runs it in the background until it says that it is ready.
start() {
	local program=$1 left=$((patience * 20))
	shift
	: >"$work/said"
	"$program" "$@" >"$work/said" 2>"$work/complained" </dev/null &
	pid=$!
	# Its end is waited for in stop, without a word from the shell.
	disown
	until grep -q '^READY' "$work/said"; do
		left=$((left - 1))
		if [ "$left" -eq 0 ] || ! kill -0 "$pid" 2>/dev/null; then
			stop KILL
			not_ok 'becomes ready' "$(gist "$work/complained")"
			return 1
		fi
		sleep 0.05
	done
}

# stop SIGNAL: ends the program; waits for it.
stop() {
	local left=$((patience * 20))
	kill "-$1" "$pid" 2>/dev/null || true
	while kill -0 "$pid" 2>/dev/null && [ "$left" -gt 0 ]; do
		left=$((left - 1))
		sleep 0.05
	done
	kill -KILL "$pid" 2>/dev/null || true
	pid=
}

# fact LINE FIELD: what the program said, for example: fact STAT live_blocks.
fact() {
	sed -nE "s/^$1 (.* )?$2=([^ ]*).*/\2/p" "$work/said"
}

# capture FILE: a snapshot of the running program; CAPTURE=gcore takes it with gdb.
capture() {
	rm -f "$1"
	case ${CAPTURE:-heapgraph} in
	gcore)
		gcore -o "$1" "$pid" >"$work/capture" 2>&1 </dev/null && mv "$1.$pid" "$1"
		;;
	*)
		timeout "$patience" "$hg" capture -p "$pid" -o "$1" >"$work/capture" 2>&1 </dev/null
		;;
	esac || {
		not_ok 'capture' "$(gist "$work/capture")"
		return 1
	}
}

# ask NAME ARGUMENT...: heapgraph answers into $work/NAME.
ask() {
	local file=$work/$1 status=0
	shift
	timeout "$patience" "$hg" "$@" >"$file" 2>"$work/err" </dev/null || status=$?
	if [ "$status" -ne 0 ]; then
		not_ok "heapgraph $1" "exit $status: $(gist "$work/err")"
		return 1
	fi
}

# total KEY: of the last summary.json; null when it is not there.
total() {
	jq -r ".totals.$1" "$work/summary.json"
}

# blocks CORE: $work/blocks, a line 'address tag words segment reachable' for every block.
blocks() {
	ask objects.csv objects --format csv "$1" || return 1
	"$here/../columns" address tag words segment reachable <"$work/objects.csv" >"$work/blocks" || {
		not_ok 'objects' "$(gist "$work/blocks")"
		return 1
	}
}

# marked: how many marked blocks are alive: Workers.wosize words in an ordinary block.
marked() {
	awk '$3 == 97 && $2 == 0 && $4 != "static" && $5 == 1' "$work/blocks" | wc -l
}

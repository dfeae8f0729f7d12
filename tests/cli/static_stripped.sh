#!/bin/bash
# Programs without symbols: cores that are kept (tests/fixtures/static/make), samples where they are, and
# programs of the compiler here, linked with glibc and with musl, read with their symbols and without.
# With the compiler of the PATH, or with that of OCAML_PREFIX ('make test-ocaml-5.3.0').
. tests/cli/lib.sh

ocamlopt=${OCAML_PREFIX:+$OCAML_PREFIX/bin/}ocamlopt
samples=${VERSIONS:-../shared/data/versions}/static-stripped

# printed FILE NAME: what a program said, as NAME=3 or NAME 3.
printed() {
	sed -nE "s/^(.* )?$2[= ]([0-9]+).*/\2/p" "$1"
}

# check_kept: what is the same with every compiler.
check_kept() {
	local core name what file
	for core in "$fixtures"/static/*.core.zst; do
		name=$(basename "$core" .core.zst)
		summarize "$name" "$core"
		for what in live_blocks live_words; do
			check_equal "$name: $what" "$(total $what)" "$(printed "${core%.core.zst}.txt" $what)"
		done
		run info "$core"
		check "$name: it is said" grep -q 'no symbols: the runtime was found by the shape of its data' \
			"$work/out"
	done

	if [ ! -d "$samples" ]; then
		skip 'samples' "no $samples"
	else
		for name in basic.static basic.musl.static; do
			file=$samples/$name.stripped.exe
			summarize "$name" --exe "$file.zst" "$file.core.zst"
			for what in live_blocks live_words; do
				check_equal "$name: $what" "$(total $what)" "$(printed "$file.truth" $what)"
			done
		done
	fi
}

[ -n "${OCAML_PREFIX-}" ] || check_kept

if ! command -v gcore >/dev/null || ! command -v "$ocamlopt" >/dev/null; then
	skip 'programs of this machine' 'no gcore or no ocamlopt here'
	exit 0
fi

cat >"$work/held.ml" <<'END'
external hold : 'a -> unit = "test_hold"
external mimic : int -> unit = "test_mimic"
let kept = ref []
let () =
  hold (List.init 50 (fun i -> (i, string_of_int i)));
  Callback.register "a name" (Array.init 20 (fun i -> Some i));
  let values = List.init 10 (fun i -> ref i) in
  List.iter (Gc.finalise (fun _ -> ())) values;
  let weak = Weak.create 10 in
  List.iteri (fun i value -> Weak.set weak i (Some value)) values;
  kept := List.init 100 (fun i -> (string_of_int i, Int64.of_int i));
  mimic (if Array.length Sys.argv > 1 then int_of_string Sys.argv.(1) else 0);
  Gc.full_major ();
  Gc.full_major ();
  let s = Gc.stat () in
  Printf.printf "live_blocks=%d live_words=%d\nREADY\n%!" s.Gc.live_blocks s.Gc.live_words;
  (try ignore (read_line ()) with End_of_file -> ());
  ignore (Sys.opaque_identity (values, weak))
END
# What looks like the tables of the program (1), or like its named values (2).
cat >"$work/stubs.c" <<'END'
#include <string.h>
#include <caml/memory.h>
#include <caml/mlvalues.h>
#include <caml/version.h>
extern char caml_globals[], caml_frametable[];
static value held;
char mimic_tables[1 << 16];
void *mimic_values[13];
static struct { void *value, *next; char name[32]; } named = {(void *)1, 0, "Pervasives.do_at_exit"};
value test_hold(value block)
{
	held = block;
	caml_register_generational_global_root(&held);
	return Val_unit;
}
value test_mimic(value what)
{
	void **end = (void **)caml_frametable;
	unsigned hash = OCAML_VERSION_MAJOR < 5 ? 0 : 5381;
	for (const char *at = named.name; *at; at++)
		hash = hash * (OCAML_VERSION_MAJOR < 5 ? 19 : 33) + *at;
	while (*end)
		end++;
	if (what == Val_int(1))
		memcpy(mimic_tables, caml_globals, (char *)(end + 1) - caml_globals);
	if (what == Val_int(2))
		mimic_values[hash % 13] = &named;
	return Val_unit;
}
END
# Debian's runtimes call these of glibc, as its headers have them for what the source calls; musl has none.
cat >"$work/glibc.c" <<'END'
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define FORWARD(call) \
	va_list arguments; \
	va_start(arguments, format); \
	int result = call; \
	va_end(arguments); \
	return result
int __vfprintf_chk(FILE *file, int flag, const char *format, va_list arguments)
{
	return vfprintf(file, format, arguments);
}
int __fprintf_chk(FILE *file, int flag, const char *format, ...)
{
	FORWARD(vfprintf(file, format, arguments));
}
int __vsnprintf_chk(char *text, size_t most, int flag, size_t size, const char *format, va_list arguments)
{
	return vsnprintf(text, most, format, arguments);
}
int __snprintf_chk(char *text, size_t most, int flag, size_t size, const char *format, ...)
{
	FORWARD(vsnprintf(text, most, format, arguments));
}
int __isoc23_sscanf(const char *text, const char *format, ...)
{
	FORWARD(vsscanf(text, format, arguments));
}
long __isoc23_strtol(const char *text, char **end, int base)
{
	return strtol(text, end, base);
}
void *__memcpy_chk(void *to, const void *from, size_t count, size_t size)
{
	return memcpy(to, from, count);
}
END
{
	echo 'let sums = List.map (fun x -> (x, [ x + 1; x * 2; x - 3 ])) [ 1; 2; 3; 4; 5; 6; 7; 8; 9 ]'
	cat "$work/held.ml"
} >"$work/other.ml"

# built NAME PROGRAM OPTION...: NAME with symbols, and NAME.stripped.
built() {
	local name=$1 program=$2
	shift 2
	(cd "$work" && "$ocamlopt" -g "$@" stubs.c "$program.ml" -o "$name" &&
		strip -o "$name.stripped" "$name") >"$work/built" 2>&1
}

# OCaml 5 reserves minor heaps for 128 domains, which gcore writes: with the usual size 256 MB.
export OCAMLRUNPARAM=s=8k

# started COMMAND...: the process $process, which waits until fd 3 is closed.
started() {
	rm -f "$work/input"
	mkfifo "$work/input"
	: >"$work/said"
	"$@" <"$work/input" >"$work/said" &
	process=$!
	exec 3>"$work/input"
	until grep -q READY "$work/said"; do sleep 0.05; done
}

ended() {
	exec 3>&-
	wait "$process" || true
}

# dumped NAME COMMAND...: $work/NAME.core
dumped() {
	local name=$1
	shift
	started "$@"
	gcore -o "$work/$name" "$process" >/dev/null 2>&1
	mv "$work/$name.$process" "$work/$name.core"
	ended
}

# Names of C's variables are lost, and which of two tables finalisers are in; and flambda's of globals, which
# are symbols of blocks.
without_names() {
	sed -E 's/C global,[^,]*/C global,NAME/; s/C global [^,]*/C global NAME/;
		s/Gc\.finalise(_last| or finalise_last)?/FINALISER/' |
		if "$ocamlopt" -config | grep -qx 'flambda: true'; then
			sed -E 's/^global,("[^"]*"|[^,]*)/global,NAME/; s/,("global [^"]*"|global [^,]*)$/,global NAME/'
		else
			cat
		fi | sort
}

# tables NAME ARGUMENT...: roots and blocks, into NAME.roots and NAME.objects.
tables() {
	local name=$1 verb
	shift
	for verb in roots objects; do
		check_run "$name: $verb" 0 "$verb" --format csv "$@"
		without_names <"$work/out" >"$work/$name.$verb"
	done
}

# counts NAME ARGUMENT...: what is live is what the program has said.
counts() {
	local name=$1
	shift
	summarize "$name" "$@"
	check_equal "$name: blocks and words" \
		"$(jq -r '.totals | "live_blocks=\(.live_blocks) live_words=\(.live_words)"' "$work/summary")" \
		"$(grep live_ "$work/said")"
}

# compared KIND OPTION...: a program linked in this way, with symbols and without; core and capture.
compared() {
	local kind=$1
	shift
	if ! built "$kind" held "$@"; then
		skip "$kind" "it cannot be linked here: $(gist "$work/built")"
		return
	fi
	started "$work/$kind.stripped"
	gcore -o "$work/$kind" "$process" >/dev/null 2>&1
	mv "$work/$kind.$process" "$work/$kind.core"
	check "$kind: capture" "$hg" capture -p "$process" -o "$work/$kind.capture"
	ended
	counts "$kind, stripped" --exe "$work/$kind.stripped" "$work/$kind.core"
	counts "$kind, with symbols" --exe "$work/$kind" "$work/$kind.core"
	# gcore writes the addresses that OCaml 5 reserves, 256 MB for 128 domains, as zeros.
	check_equal "$kind: addresses for minor heaps are no memory of malloc()" \
		"$(jq '.process.rest_bytes < 8000000' "$work/summary")" true
	tables "$kind-with" --exe "$work/$kind" "$work/$kind.core"
	tables "$kind-without" --exe "$work/$kind.stripped" "$work/$kind.core"
	tables "$kind-captured" "$work/$kind.capture"
	check "$kind: roots of C code and finalisers" \
		test "$(grep -c 'C global\|FINALISER' "$work/$kind-with.roots")" -gt 10
	for what in roots objects; do
		check_same "$kind: $what, with symbols and without" \
			"$work/$kind-with.$what" "$work/$kind-without.$what"
		check_same "$kind: $what, of core and capture" \
			"$work/$kind-captured.$what" "$work/$kind-without.$what"
	done
}

compared static -ccopt -static
# Another compiler driver than its own leaves out that ocamlopt exports symbols.
compared unexported -cc "${CC:-cc}"
compared sections -ccopt -static -function-sections
if ! command -v musl-gcc >/dev/null; then
	skip 'musl' 'no musl-gcc here'
elif ! is_brief; then
	compared musl -cc musl-gcc glibc.c
	[ ! -e "$work/musl" ] ||
		check 'musl: it is linked with it' grep -qa '/lib/ld-musl-[a-z0-9_]*\.so' "$work/musl.stripped"
	compared musl-static -cc musl-gcc -ccopt -static glibc.c
	[ ! -e "$work/musl-static" ] ||
		check 'musl-static: it is linked with it' grep -qw __init_libc "$work/musl-static"
fi

# says NAME MESSAGE ARGUMENT...: refused with this message, a pattern.
says() {
	local name=$1 message=$2
	shift 2
	refuses "$name" 3 summary "$@"
	check "$name: what it says" grep -qE "$message" "$work/err"
}

if [ -e "$work/static.stripped" ]; then
	dumped tables "$work/static.stripped" 1
	says 'two tables' 'the tables of two OCaml programs in its data, at 0x[0-9a-f]+ and 0x[0-9a-f]+: which' \
		--exe "$work/static.stripped" "$work/tables.core"
	dumped names "$work/static.stripped" 2
	says 'two tables of names' "look like 'named_value_table' of the OCaml runtime, at 0x[0-9a-f]+ and 0x" \
		--exe "$work/static.stripped" "$work/names.core"
	check_run 'two tables, with symbols' 0 summary --exe "$work/static" "$work/tables.core"

	built another other -ccopt -static
	says 'another build' 'another.stripped: is not the file of the process: its build-id is' \
		--exe "$work/another.stripped" "$work/static.core"
	built unnamed held -ccopt -static -ccopt -Wl,--build-id=none
	built another other -ccopt -static -ccopt -Wl,--build-id=none
	dumped unnamed "$work/unnamed.stripped"
	check_run 'without a build-id' 0 summary --exe "$work/unnamed.stripped" "$work/unnamed.core"
	check_run 'without a build-id, with symbols' 0 summary --exe "$work/unnamed" "$work/unnamed.core"
	says 'another build without a build-id' \
		'another.stripped: is not the file of the process: the .* at 0x[0-9a-f]+ differ from those in' \
		--exe "$work/another.stripped" "$work/unnamed.core"

	# Cut short anywhere it is read in part or refused, and says so.
	size=$(stat -c %s "$work/static.core")
	for part in 1 2 3 5 7 9; do
		head -c $((size * part / 10)) "$work/static.core" >"$work/cut"
		run summary --exe "$work/static.stripped" "$work/cut"
		check "cut at $part tenths" test "$status" -eq 3
	done
fi

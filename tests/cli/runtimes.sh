#!/bin/bash
# A program of C with an OCaml program in a library, and with two; a program of OCaml with one: which runtime is read is never left to
# chance.  With the compiler of the PATH, or with that of OCAML_PREFIX ('make test-ocaml-5.3.0').
. tests/cli/lib.sh

ocamlopt=${OCAML_PREFIX:+$OCAML_PREFIX/bin/}ocamlopt
if ! command -v "$ocamlopt" >/dev/null || ! command -v gcore >/dev/null; then
	skip 'OCaml in libraries' 'no ocamlopt, or no gcore'
	exit 0
fi
if [ ! -e "$("$ocamlopt" -where)/libasmrun_pic.a" ]; then
	skip 'OCaml in libraries' 'the runtime was not built for libraries'
	exit 0
fi

# library NAME COUNT: what is live it says at the end.
library() {
	cat >"$work/$1.ml" <<-END
		let kept = List.init $2 string_of_int
		let () =
		  Gc.full_major ();
		  let s = Gc.stat () in
		  Printf.printf "$1 %d\n%!" s.live_blocks;
		  ignore (Sys.opaque_identity kept)
	END
	(cd "$work" && "$ocamlopt" -output-complete-obj -runtime-variant _pic "$1.ml" -o "$1.so") >"$work/out" 2>&1
}

cat >"$work/host.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
		void (*start)(char **) = library ? (void (*)(char **))dlsym(library, "caml_startup") : 0;
		if (!start)
			return 1;
		start((char *[]){argv[0], 0});
	}
	puts("READY");
	fflush(stdout);
	pause();
	return 0;
}
END
library one 1000
library two 300
cc "$work/host.c" -o "$work/host" -ldl

# core_of HOST LIBRARY...: $work/core of the program with these, and $work/captured.
core_of() {
	local host=$1
	shift
	"$work/$host" "$@" >"$work/said" &
	local pid=$!
	until grep -q READY "$work/said" || ! kill -0 $pid 2>/dev/null; do sleep 0.05; done
	run capture -o "$work/captured" -p $pid
	cp "$work/err" "$work/capture_said"
	gcore -o "$work/core" $pid >/dev/null 2>&1
	mv "$work/core.$pid" "$work/core"
	kill $pid
	wait $pid || true
}

# reads WHAT LIBRARY FILE OPTION...: the blocks of this one.
reads() {
	local what=$1 library=$2 file=$3
	shift 3
	summarize "$what" "$@" "$work/$file"
	check_equal "$what: live blocks" "$(total live_blocks)" "$(sed -n "s/^$library //p" "$work/said")"
}

core_of host "$work/one.so"
reads 'one library' one core
reads 'one library, captured' one captured
# Where threads of OCaml 5 have their stacks is not found in a library.
case $("$ocamlopt" -version) in
4.*) method=fork ;;
*) method='vmread; .* it has OCaml 5 in a library' ;;
esac
check 'one library, captured: how, and at a good moment' \
	grep -q "consistency clean, method $method" "$work/capture_said"
core_of host "$work/one.so" "$work/two.so"
refuses 'two libraries' 3 summary "$work/core"
check 'two libraries: both are named' \
	grep -qF "several OCaml runtimes, in '$work/one.so' and in '$work/two.so': say with --exe" "$work/err"
for library in one two; do
	reads "two libraries, $library" $library core --exe "$work/$library.so"
	reads "two libraries, $library, captured" $library captured --exe "$work/$library.so"
	run info --exe "$work/$library.so" "$work/core"
	check "two libraries, $library: the other one is said" \
		grep -q 'has an OCaml runtime of its own' "$work/out"
done

# The program's own is meant where nothing else is said.
cat >"$work/loader.c" <<'END'
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include <caml/mlvalues.h>

value load(value path)
{
	void *library = dlopen(String_val(path), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	void (*start)(char **) = library ? (void (*)(char **))dlsym(library, "caml_startup") : 0;
	if (!start)
		exit(1);
	start((char *[]){"library", 0});
	return Val_unit;
}

value rest(value unit)
{
	pause();
	return unit;
}
END
cat >"$work/program.ml" <<'END'
external load : string -> unit = "load"
external rest : unit -> unit = "rest"

let kept = List.init 500 string_of_int

let () =
  load Sys.argv.(1);
  Gc.full_major ();
  Printf.printf "program %d\nREADY\n%!" (Gc.stat ()).live_blocks;
  rest ();
  ignore (Sys.opaque_identity kept)
END
(cd "$work" && "$ocamlopt" loader.c program.ml -o program -cclib -ldl) >"$work/out" 2>&1
core_of program "$work/one.so"
for file in core captured; do
	reads "a program with a library, $file: itself" program $file
	check "a program with a library, $file: the other one is said" \
		jq -e '.not_read[].note | test("/one\\.so. has an OCaml runtime of its own")' "$work/summary"
	reads "a program with a library, $file: the library" one $file --exe "$work/one.so"
done

#!/bin/bash
# The table of the runtime's layouts is what debug information of each compiler at hand says: of that
# in the PATH and of those that scripts/ocaml-versions has built.
. tests/cli/lib.sh

if is_sanitized || ! command -v gdb >/dev/null; then
	skip 'layouts of compilers' 'no gdb, or another program is under test'
	exit 0
fi

# compares COMPILER LEAST: no difference, and so many rows at least are equal.
compares() {
	local said=$work/said status=0
	scripts/runtime-layout --check "$1" >"$said" 2>"$work/err" || status=$?
	if [ $status -eq 3 ]; then
		skip "$(basename "$1")" "$(gist "$work/err")"
	elif [ $status -eq 0 ]; then
		check "$(tail -n 1 "$said")" test \
			"$(sed -nE 's/.*: ([0-9]+) equal.*/\1/p' "$said")" -ge "$2"
	else
		not_ok "$(basename "$1")" "$(gist "$said") $(gist "$work/err")"
	fi
}

if command -v ocamlopt >/dev/null; then
	# Headers alone, if the runtime comes without debug information.
	compares ocamlopt 30
else
	skip 'the compiler in the PATH' 'there is none'
fi
for prefix in "${OCAML_VERSIONS:-${XDG_CACHE_HOME:-$HOME/.cache}/heapgraph/ocaml}"/*/bin/ocamlopt; do
	[ ! -x "$prefix" ] || compares "${prefix%/bin/ocamlopt}" 130
done

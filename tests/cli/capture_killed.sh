#!/bin/bash
# A sample of make stress-capture: nothing happens to programs whose capturer is killed.
# Waits: it kills captures at chosen moments.
. tests/cli/lib.sh

# stress TABLE NAME=VALUE...: tests/stress/capture with these variables; what it says is in TABLE
# and TABLE.err.
stress() {
	local table=$1
	shift
	env SLOW_SECONDS=0 LOAD_SECONDS=0 PATIENCE=60 "$@" \
		tests/stress/capture ${compiler:+"$compiler"} \
		>"$table" 2>"$table.err" </dev/null || true
}

# The rows of a table; the last line is the sum.
rows() {
	sed '1d;$d' "$1"
}

# all_fine TABLE ROWS: each row is, and there are as many.
all_fine() {
	local row name
	while IFS= read -r row; do
		name=$(awk '{ print $1 ", " $2 }' <<<"$row")
		if [ "${row##* }" = fine ]; then
			ok "$name"
		else
			not_ok "$name" "$(tr -s ' ' <<<"$row")$(grep -m 1 "${name%,*}[:,]" "$1.err")"
		fi
	done < <(rows "$1")
	check_equal 'rows' "$(rows "$1" | wc -l)" "$2"
}

# Forks that last longer than a capturer waits for anything else, while the others are killed.
compiler=
slow=0
if [ "$(id -u)" -eq 0 ] || [ "$(cat /proc/sys/vm/unprivileged_userfaultfd)" -eq 1 ]; then
	for kind in slow slow+KILL slow+INT; do
		slow=$((slow + 1))
		stress "$work/$kind" TARGETS=C-busy SLOW_TARGETS=C-busy CAPTURES=0 KILLS_RANDOM=0 \
			KILLS_PAUSE=0 SLOW_SECONDS=7 SLOW_KINDS=$kind &
	done
else
	skip 'slow forks' 'needs root, for userfaultfd'
fi
compiler=$(command -v ocamlopt) || skip 'programs of OCaml' 'no ocamlopt'
# Rows of C, of what every OCaml has, and of effects and domains.
wanted=24
[ "$(uname -m)" = x86_64 ] || wanted=20
[ -z "$compiler" ] || case $("$compiler" -version) in
5.*) wanted=$((wanted + 8)) ;;
*) wanted=$((wanted + 4)) ;;
esac
# Of each program two at random and four in the pause; three and seven if all is wanted.
random=28 pause=56
! is_thorough || random=42 pause=98
stress "$work/table" CAPTURES=0 KILLS_RANDOM=$random KILLS_PAUSE=$pause
wait
all_fine "$work/table" $wanted
for kind in slow slow+KILL slow+INT; do
	[ "$slow" -eq 0 ] || all_fine "$work/$kind" 1
done

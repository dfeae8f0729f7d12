#!/bin/bash
# Cores that one kind of table fills (bench/hostile_cores.py), small: an honest one is read in full;
# in one whose structures lead to the same places again and again no more is followed than memory has
# room for, and that is said.  'bench/hostile' measures large ones.
. tests/cli/lib.sh

note='lists of the runtime lead to the same places again and again: not all was followed'

# make KIND MOOD
make_core() {
	bench/hostile_cores.py "$1" "$2" 0.4 "$work/core" 2>"$work/err" ||
		not_ok "$1, $2: is made" "$(gist "$work/err")"
}

for kind in $(bench/hostile_cores.py --kinds); do
	make_core "$kind" honest
	check_run "$kind: an honest one is read" 0 info --exe "$work/core/exe" "$work/core/core"
	check "$kind: to its end" bash -c "! grep -qF '$note' '$work/out'"
	make_core "$kind" hostile
	case $kind in
	sections)
		refuses "$kind: a hostile one" 3 summary --exe "$work/core/exe" "$work/core/core"
		check "$kind: it is said why" grep -qF 'has more sections than any program' \
			"$work/err"
		;;
	frames | symbols | segments | named-values | ephemerons | customs)
		check_run "$kind: a hostile one is read" 0 info --exe "$work/core/exe" \
			"$work/core/core"
		check "$kind: it to its end, too" bash -c "! grep -qF '$note' '$work/out'"
		;;
	file-maps)
		check_run "$kind: a hostile one is read" 0 info --exe "$work/core/exe" \
			"$work/core/core"
		;;
	local-roots | finalisers)
		refuses "$kind: a hostile one" 3 summary --exe "$work/core/exe" "$work/core/core"
		check "$kind: it is said why" grep -qF 'the lists of roots do not end' "$work/err"
		;;
	*)
		check_run "$kind: a hostile one is read" 0 info --exe "$work/core/exe" \
			"$work/core/core"
		check "$kind: not all of it" grep -qF "$note" "$work/out"
		;;
	esac
done

# More files of programs than a process can have mappings.
bench/hostile_cores.py file-maps hostile 4 "$work/core"
refuses 'file-maps: more files than a process can have' 3 summary --exe "$work/core/exe" \
	"$work/core/core"
check 'file-maps: it is said why' grep -qF 'lists more than 16384 files of programs' "$work/err"

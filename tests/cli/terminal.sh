#!/bin/bash
# On a terminal no line of any report is wider than it; in a pipe and in a file nothing is cut.
. tests/cli/lib.sh

unpack_fixture() {
	zstd -qdf "$fixtures/cores/$1.zst" -o "$work/$1"
}
unpack_fixture tiny-5.3.0.core
unpack_fixture tiny-5.3.0.prof
zstd -qdf "$cache5" -o "$work/cache5"
export TERM=xterm NO_COLOR=
core=$work/tiny-5.3.0.core
typed=(--prof "$work/tiny-5.3.0.prof")
address=$("$hg" objects "${typed[@]}" --format csv "$core" | columns address | sed -n 5p)

# fits COLUMNS ARGUMENT...: heapgraph on a terminal of that width.
fits() {
	local columns=$1 most
	shift
	# That of check says that something grows.
	if ! most=$(timeout 120 python3 tests/cli/terminal.py --widest "$columns" "$hg" "$@" 2>"$work/err") &&
		[ "$1" != check ]; then
		not_ok "$columns columns: $*" "$(gist "$work/err")"
		return
	fi
	if [ "$most" -gt 0 ] && [ "$most" -le "$columns" ]; then
		ok "$columns columns: $1"
	else
		not_ok "$columns columns: $*" "$most columns"
	fi
}

# operands VERB: as its help has them.
operands() {
	"$hg" help "$1" | sed -n '1s/^heapgraph [a-z]* \(\[options\] \)\{0,1\}//p'
}

verbs=$("$hg" help | sed -n 's/^  \([a-z]*\)  .*/\1/p')
# Every verb that writes tables and prose: a typed core, and a dump with locations.
screens='40:C 40:C.UTF-8 80:C.UTF-8 100:C 132:C.UTF-8'
! is_thorough || screens="$screens 80:C 100:C.UTF-8 132:C"
for screen in $screens; do
	columns=${screen%:*}
	export LC_ALL=${screen#*:}
	for verb in $verbs; do
		case $verb in
		help | version | completion | man | capture | dot | hp) continue ;;
		check)
			fits "$columns" check --max-growth 100000% $cache0 "$work/cache5"
			continue ;;
		diff | trend)
			for key in type root type,location; do
				# shellcheck disable=SC2086 # words
				fits "$columns" $verb --by $key $cache0 "$work/cache5"
			done ;;
		esac
		case $(operands "$verb") in
		PATTERN*)
			fits "$columns" "$verb" "${typed[@]}" type:. "$core"
			fits "$columns" "$verb" loc:. "$work/cache5" ;;
		ADDRESS*) fits "$columns" "$verb" "${typed[@]}" "$address" "$core" ;;
		BASE*) fits "$columns" "$verb" $cache0 $cache2 "$work/cache5" ;;
		SNAPSHOT | FILE | '[RE] SNAPSHOT')
			fits "$columns" "$verb" "${typed[@]}" "$core"
			fits "$columns" "$verb" "$work/cache5" ;;
		*) fits "$columns" "$verb" $cache0 "$work/cache5" ;;
		esac
	done
	fits "$columns" summary --outside "$work/cache5"
	fits "$columns" top "${typed[@]}" --by type,location "$core"
	fits "$columns" types "${typed[@]}" --clashes "$core"
	export LC_ALL=C
done
fits 80 help
for verb in $verbs; do
	fits 80 help "$verb"
done

# COLUMNS goes before what the terminal says, which may say nothing.
run_on() {
	timeout 120 python3 tests/cli/terminal.py --widest "$1" "$hg" objects "${typed[@]}" --limit 50 "$core"
}
check_equal 'a terminal of unknown width' "$(run_on 0)" "$(run_on 80)"
check_equal 'COLUMNS says more than the terminal' "$(COLUMNS=60 run_on 132)" "$(run_on 60)"
check_equal 'unless it is no number' "$(COLUMNS=x run_on 80)" "$(run_on 80)"

# What is cut says so, in the middle, in the characters that there are.
shown() {
	LC_ALL=$1 timeout 120 python3 tests/cli/terminal.py 60 "$hg" objects "${typed[@]}" --limit 0 "$core"
}
shown C >"$work/ascii"
shown C.UTF-8 >"$work/utf8"
check 'ASCII: three dots' grep -q '[a-z(]\.\.\.[a-z)]' "$work/ascii"
check 'ASCII: nothing else' sh -c "! LC_ALL=C grep -q '[^ -~[:cntrl:]]' '$work/ascii'"
check 'UTF-8: an ellipsis' grep -q '…' "$work/utf8"

# A long name: whole in a pipe and in a file, cut on the screen.
long=$("$hg" roots --format csv --limit 0 "${typed[@]}" "$core" | columns name | awk '{ print length($0), $0 }' | sort -n | tail -n 1 | cut -d ' ' -f 2-)
for ask in "roots --limit 0" "top --by root --limit 0"; do
	# shellcheck disable=SC2086 # two words
	"$hg" $ask "${typed[@]}" "$core" >"$work/pipe"
	# shellcheck disable=SC2086 # words
	COLUMNS=40 "$hg" $ask "${typed[@]}" -o "$work/file" "$core"
	check "$ask: whole in a pipe" grep -qF -- "$long" "$work/pipe"
	check_same "$ask: the same in a file" "$work/file" "$work/pipe"
	# shellcheck disable=SC2086 # two words
	python3 tests/cli/terminal.py 40 "$hg" $ask "${typed[@]}" "$core" >"$work/screen"
	check "$ask: cut on a screen" sh -c "! grep -qF -- '$long' '$work/screen'"
done

# Bars go before names are cut, and the lines of the source with them.
python3 tests/cli/terminal.py 132 "$hg" top "${typed[@]}" "$core" >"$work/wide"
check 'bars where there is room' grep -q '##' "$work/wide"
python3 tests/cli/terminal.py 66 "$hg" top "${typed[@]}" "$core" >"$work/narrow"
check 'bars go first' sh -c "! grep -q '##' '$work/narrow' && ! grep -q 'no room.*share' '$work/narrow'"

#!/bin/bash
# The manual page, the help and the completion come from one table and cover everything.
# shellcheck disable=SC2034 # COMP_WORDS and COMP_CWORD are read by the completion
. tests/cli/lib.sh

check_run 'the manual page is written' 0 man
cp "$work/out" "$work/heapgraph.1"
check 'the manual page is correct' mandoc -Tlint -W style "$work/heapgraph.1"
if [ -f docs/heapgraph.1 ]; then
	check_same 'docs/heapgraph.1 is that page' docs/heapgraph.1 "$work/heapgraph.1"
fi
mandoc -Tascii "$work/heapgraph.1" | sed 's/.\x08//g' >"$work/page"

# options_of VERB: those that its help explains; a verb may be two words.
# shellcheck disable=SC2086
options_of() {
	"$hg" help $1 | sed -nE 's/^ *(-[a-z], )?(--[a-z-]+).*/\2/p'
}

run --help
mapfile -t verbs < <(sed -nE '/^Verbs:/,/^$/s/^  ([a-z]+( [a-z]+)?)  .*/\1/p' "$work/out")
check 'help lists verbs' test "${#verbs[@]}" -ge 12
check 'help lists verbs of two words' grep -q '^  trace info  ' "$work/out"
grep '^  trace [a-z]' "$work/out" >"$work/two-words"
for ask in 'help trace' 'trace --help' 'trace -h'; do
	# shellcheck disable=SC2086 # words
	run $ask
	grep '^  ' "$work/out" >"$work/listed"
	check_same "$ask: the same list" "$work/listed" "$work/two-words"
done
run --help
for verb in "${verbs[@]}"; do
	missing=''
	for option in $(options_of "$verb"); do
		grep -q -e "$option" "$work/page" || missing="$missing $option"
	done
	grep -q "^ *heapgraph $verb" "$work/page" || missing="$missing $verb"
	check_equal "the page has $verb and its options" "$missing" ''
done
for option in -heap -heaps -loc -prof -v; do
	check "the page has the historical $option" grep -q "^ *$option" "$work/page"
done
for code in 0 1 2 3 4 5 70 130; do
	check "the page has exit code $code" grep -q "^ *$code  *[a-z]" "$work/page"
done

# Every kind of snapshot that README.md lists stands in its description.
sed -n '/^DESCRIPTION/,/^[A-Z]/p' "$work/page" | tr -s ' \n' '  ' >"$work/description"
for word in 'ELF core files' 4.13 5.5 'OCamlmemprof 0.1' 0.2 OCP gcore; do
	check "the description knows $word" grep -qF "$word" "$work/description"
done

# Every CSV header of the contract stands in the page.
tr -s ' \n' '  ' <"$work/page" >"$work/line"
# in_page VERB ARGUMENT...: the header of its CSV, "the key" for the column of the key.
in_page() {
	local verb=$1
	run "$@" --format csv
	check "the page has the columns of $verb" grep -qF \
		" $verb $(head -n 1 "$work/out" | sed 's/\<location,blocks/the key,blocks/; s/,/, /g')" \
		"$work/line"
}
for verb in objects edges waste roots tree types; do
	in_page $verb $tiny
done
in_page why loc:x $tiny
in_page retained string $tiny
in_page object "$("$hg" objects --format csv $tiny | sed -n '2s/,.*//p')" $tiny
in_page top --by location $tiny
in_page diff --by location $tiny $tiny

# completes WORD...: what bash offers for the last word.
completes() {
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	COMPREPLY=()
	_heapgraph
	echo "${COMPREPLY[*]-}"
}
# Needs a command line that is being completed.
compopt() {
	:
}
check_run 'completion bash' 0 completion bash
check 'completion is a shell script' bash -n "$work/out"
for option in output prof include exe; do
	check "completion: files after --$option" grep -qE "'top':--${option}[^ ]*\) compopt -o default" "$work/out"
done
# shellcheck source=/dev/null
. "$work/out"
check_equal 'completion: su' "$(completes heapgraph su)" summary
check_equal 'completion: t' "$(completes heapgraph t)" 'top tree types trend trace'
check_equal 'completion: top --by l' "$(completes heapgraph top --by l)" location
check_equal 'completion: top --format=c' "$(completes heapgraph top --format = c)" csv
check_equal 'completion: top --for' "$(completes heapgraph top --for)" --format
check_equal 'completion: -h' "$(completes heapgraph -hea)" '-heap -heaps'
check_equal 'completion: help ob' "$(completes heapgraph help ob)" 'object objects'
missing=''
check_equal 'completion: trace t' "$(completes heapgraph trace t)" 'top trend tree'
check_equal 'completion: trace tree --format f' "$(completes heapgraph trace tree --format f)" folded
for verb in "${verbs[@]}"; do
	case " $(completes heapgraph '') " in
	*" ${verb%% *} "*) ;;
	*) missing="$missing $verb" ;;
	esac
	for option in $(options_of "$verb"); do
		# shellcheck disable=SC2086
		case " $(completes heapgraph $verb --) " in
		*" $option "*) ;;
		*) missing="$missing $verb:$option" ;;
		esac
	done
done
check_equal 'completion: every verb and option of the help' "$missing" ''

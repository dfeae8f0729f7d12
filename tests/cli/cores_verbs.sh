#!/bin/bash
# Every verb, in every format, on the kept cores: it ends well, says nothing on standard error, and
# what is a picture or a table holds something.  tests/cli/schema.sh validates the JSON.
. tests/cli/lib.sh

if ! has_cores; then
	skip 'verbs on cores of real programs' "none in $cores"
	exit 0
fi

# on FOLDER CORE VERB ARGUMENT...: one verb; its output is not empty.
on() {
	local folder=$1 core=$2
	shift 2
	check_run "$folder: $*" 0 "$@" --exe "$cores/$folder/${folder#*-}.zst" \
		--libraries "$cores/lib" "$cores/$folder/$core"
	check "$folder: $*: says something" test -s "$work/out"
}

for folder in 413-cache 53-fib; do
	address=0x$(sed -nE 's/^ADDR (cache|orphan)=//p' "$cores/$folder/out.txt")
	for format in text csv json; do
		for verb in summary info objects tree "why $address" 'why root:caml_signal' \
			"object $address" 'top --by location' 'top --by tag' 'top --by module' \
			'top --by root'; do
			# shellcheck disable=SC2086 # words
			on $folder core.zst $verb --format $format
		done
	done
	on $folder core.zst dot
	check "$folder: dot: Graphviz reads it" dot -Tsvg -o "$work/picture.svg" "$work/out"
	check "$folder: dot: a picture" xmllint --noout "$work/picture.svg"
done

# Two moments of a program, which are two processes here.
stops=(--exe "$cores/413-gt/gt1.zst" --libraries "$cores/lib"
	"$cores/413-gt/gt1.mark.core.zst" "$cores/413-gt/gt1.minor.core.zst")
for format in text csv json; do
	for verb in diff trend; do
		for key in location tag root; do
			check_run "413-gt: $verb by $key, $format" 0 $verb --by $key --format $format \
				"${stops[@]}"
		done
	done
	run diff --by tag --format $format "${stops[@]}"
	check "413-gt: diff, $format: says something" test -s "$work/out"
done

# The same state, by two ways: no difference.
run diff --format csv --exe "$cores/53-mprof/mprof.zst" --libraries "$cores/lib" \
	"$cores/53-mprof/core.zst" "$cores/53-mprof/core.fork.zst"
check_equal '53-mprof: no difference between two captures' "$(wc -l <"$work/out")" 1

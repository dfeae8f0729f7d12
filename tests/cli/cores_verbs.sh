#!/bin/bash
# Every verb, in every format, on the kept cores: it ends well, says nothing on standard error, and
# what is a picture or a table holds something.  tests/cli/schema.sh validates the JSON.
. tests/cli/lib.sh

# on NAME VERB ARGUMENT...: one verb on the core of $from; its output is not empty.
on() {
	local name=$1
	shift
	check_run "$name: $*" 0 "$@" "${from[@]}"
	check "$name: $*: says something" test -s "$work/out"
}

# all_verbs NAME ADDRESS
all_verbs() {
	local format verb
	for format in text csv json; do
		for verb in summary info objects tree "why $2" 'why root:caml_signal' \
			"object $2" 'top --by location' 'top --by tag' 'top --by module' \
			'top --by root'; do
			# shellcheck disable=SC2086 # words
			on "$1" $verb --format $format
		done
	done
	for verb in dot 'dot --blocks'; do
		# shellcheck disable=SC2086 # a verb with an option
		on "$1" $verb
		check "$1: $verb: Graphviz reads it" dot -Tsvg -o "$work/picture.svg" "$work/out"
		check "$1: $verb: a picture" xmllint --noout "$work/picture.svg"
	done
}

for fixture in zoo-4.13.1 fibers-5.3.0; do
	zstd -dqf "$fixtures/cores/$fixture.core.zst" -o "$work/$fixture.core"
	from=("$work/$fixture.core")
	all_verbs $fixture 0x"$(sed -nE 's/^ADDR (catalogue|left)=//p' "$fixtures/cores/$fixture.txt")"
done

if ! has_cores; then
	skip 'verbs on larger cores of real programs' "none in $cores"
	exit 0
fi

unpack_cores lib 413-cache 53-fib 413-gt 53-mprof
for folder in 413-cache 53-fib; do
	from=(--exe "$work/$folder/${folder#*-}" --libraries "$work/lib" "$work/$folder/core")
	all_verbs $folder 0x"$(sed -nE 's/^ADDR (cache|orphan)=//p' "$cores/$folder/out.txt")"
done

# Two moments of a program, which are two processes here.
stops=(--exe "$work/413-gt/gt1" --libraries "$work/lib"
	"$work/413-gt/gt1.mark.core" "$work/413-gt/gt1.minor.core")
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
run diff --format csv --exe "$work/53-mprof/mprof" --libraries "$work/lib" \
	"$work/53-mprof/core" "$work/53-mprof/core.fork"
check_equal '53-mprof: no difference between two captures' "$(wc -l <"$work/out")" 1

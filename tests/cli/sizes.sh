#!/bin/bash
# Every verb ends with exit status 0 on heaps of many sizes: what is released at the end is released
# well, which a report printed before that does not show.
. tests/cli/lib.sh

dump=$work/heap.dump.1.0
for blocks in 1000 70000 300000; do
	"$BUILD/gendump" mix $blocks $blocks "$dump" >"$work/said"
	for verb in summary info 'top --by tag' 'top --threads 2' 'tree --depth 3' 'why root:.' \
		objects dot 'dot --blocks' 'tree --from root:global --format csv' 'tree --blocks --depth 3'; do
		# shellcheck disable=SC2086 # words
		run $verb --progress never "$dump"
		check_equal "$verb of $blocks blocks: exit status" "$status" 0
	done
	run diff "$dump" "$dump"
	check_equal "diff of $blocks blocks: exit status" "$status" 0
done

if [ -e "$more/v01/mid/heap.dump.9328.0.zst" ]; then
	for verb in summary 'why big.ml' 'tree --format csv' 'tree --blocks --format csv'; do
		# shellcheck disable=SC2086 # words
		run $verb "$more/v01/mid/heap.dump.9328.0.zst"
		check_equal "$verb of a compressed dump of a million blocks" "$status" 0
	done
fi

#!/bin/bash
# dot: what it writes is read by other programs, and shows what it should.
. tests/cli/lib.sh

# By path: against the tree itself, read back by Graphviz.  Without THOROUGH each in one of three ways.
ways=('1 36' '0 12' '5 100')
turn=0
for dump in $(dumps_in "$fixtures") "$fixtures"/cores/*.core.zst; do
	name=${dump#"$fixtures/"}
	prof=${dump%.core.zst}.prof.zst
	from=("$dump")
	[ "$prof" = "$dump" ] || [ ! -e "$prof" ] || from=(--prof "$prof" "$dump")
	run tree --format json "${from[@]}"
	cp "$work/out" "$work/tree.json"
	chosen=("${ways[@]}")
	is_thorough || chosen=("${ways[turn++ % 3]}")
	for way in "${chosen[@]}"; do
		read -r min nodes <<<"$way"
		check_run "$name: dot --min $min --nodes $nodes" 0 dot --min "$min" --nodes "$nodes" "${from[@]}"
		check "$name: Graphviz reads it, and makes JSON of it" \
			dot -Tcanon -o "$work/picture.canon" -Tjson -o "$work/picture.json" "$work/out"
		check "$name: it shows the tree, --min $min --nodes $nodes" tests/cli/pictures.py \
			"$work/picture.json" "$work/tree.json" "$min" "$nodes"
	done
	run dot --threads 1 "${from[@]}"
	cp "$work/out" "$work/once"
	run dot --threads 3 "${from[@]}"
	check_same "$name: the same picture with three threads" "$work/out" "$work/once"
	run dot "${from[@]}"
	width=$(dot -Tsvg "$work/out" | sed -n 's/^<svg width="\([0-9]*\)pt.*/\1/p')
	check "$name: letters of 9 pixels or more at a width of 1280, of $width points" \
		test $((11 * 1280)) -ge $((9 * width))
done
run dot $cache5
check 'dot: labels have a type, sizes, blocks and a line' grep -qF \
	'label="Cache.session\n757.0 KB   78.6 %\n3,000 blocks\ncache.ml:30"' "$work/out"
check 'dot: who holds what no arrow leads to' grep -qF 'held by stack entry' "$work/out"
check 'dot: fields on arrows' grep -q '^	.*label="  .data"' "$work/out"
run dot $v01/variants-dump/heap.dump.8993.0
check 'dot: who shares what' grep -q 'label=80,' "$work/out"
check_run 'dot --from a type' 0 dot --from type:Variants $v01/variants-dump/heap.dump.8993.0
check 'dot --from a type: the title says so' grep -q 'held by what matches type:Variants' "$work/out"
check 'dot --from a type: only what these hold' bash -c "! grep -q 'global\|stack' '$work/out'"

# Block by block.
for dump in $(dumps_in "$fixtures"); do
	name=${dump#"$fixtures/"}
	check_run "$name: DOT of blocks" 0 dot --blocks "$dump"
	check "$name: Graphviz reads the blocks" dot -Tcanon "$work/out"
	check "$name: at most 80 nodes and their notes" \
		test "$(dot -Tplain "$work/out" | grep -c '^node ')" -le 161
done

run dot --blocks --nodes 10 $cache5
check 'dot --blocks --nodes 10: ten nodes and their notes' \
	test "$(dot -Tplain "$work/out" | grep -c '^node ')" -le 21
check 'dot --blocks: labels have a type, a location, bytes and percent' \
	grep -q 'label="Cache[.]scratch list ref\\ncache[.]ml:21:33-39\\n1 word\\n9[.]4 KB   1[.]0 %"' "$work/out"

begins_with() {
	[ "$(head -c "${#2}" "$1")" = "$2" ]
}
check_run 'dot -o x.svg' 0 dot -o "$work/x.svg" $cache5
check 'SVG is XML' xmllint --noout --nonet "$work/x.svg"
check 'SVG shows where the memory is' grep -q 'Cache\.session' "$work/x.svg"
check_run 'dot -o x.png' 0 dot -o "$work/x.png" $cache0
check 'PNG has its magic' begins_with "$work/x.png" "$(printf '\211PNG')"
check_run 'dot -o x.pdf' 0 dot -o "$work/x.pdf" $cache0
check 'PDF has its magic' begins_with "$work/x.pdf" '%PDF-'
check_run 'dot -o x.dot' 0 dot -o "$work/x.dot" $cache0
check 'x.dot is DOT' dot -Tcanon "$work/x.dot"

for verb in dot 'dot --blocks'; do
	# shellcheck disable=SC2086 # a verb with an option
	check_run "$verb --from a root" 0 $verb --from root:stack $cache5
	# shellcheck disable=SC2086
	refuses "$verb --from nothing" 2 $verb --from loc:no-such-file $cache5
done

# Names of the dump stand in labels: a program name with everything that could break out of them.
name=$(printf './"]}\\<b>&\033[31m\377')
{
	printf '\010'
	printf '%b' "\\0$(printf '%o' ${#name})\\0\\0\\0\\0\\0\\0\\0"
	printf '%s' "$name"
	tail -c +$((1 + 8 + 4 + 1)) "$(plain $tiny)"
} >"$work/heap.dump.29370.0"
for verb in summary info dot 'dot --blocks'; do
	# shellcheck disable=SC2086 # a verb with an option
	check_run "odd program name: $verb" 0 $verb --prof $v01/tiny/t1.prof "$work/heap.dump.29370.0"
	check "odd program name: $verb has no control characters" \
		test "$(tr -d '\n\t\040-\176\200-\377' <"$work/out" | wc -c)" -eq 0
done
check 'odd program name: Graphviz reads it' dot -Tcanon "$work/out"
check_run 'odd program name: SVG' 0 dot -o "$work/y.svg" --prof $v01/tiny/t1.prof "$work/heap.dump.29370.0"
check 'odd program name: SVG is XML' xmllint --noout --nonet "$work/y.svg"
run summary --format json "$work/heap.dump.29370.0"
check 'odd program name: JSON' jq -e '.snapshot.program | contains("\ufffd")' "$work/out"
run summary --format csv "$work/heap.dump.29370.0"
check 'odd program name: CSV is verbatim, with doubled quotes' \
	grep -qaF 'program,"./""]}' "$work/out"

# Names of types and fields come from a profile, which anyone can have written.
zstd -dqf "$fixtures/cores/tiny-5.3.0.core.zst" -o "$work/tiny.core"
# shellcheck disable=SC2028 # these are the bytes
escaped() {
	printf '%b' "$1" | od -An -v -tx1 | tr -d '\n' | tr ' ' %
}
type=$(escaped 'Tiny."]}\\<b>&amp;\033[31m\377\342\200\256\\N\\lit%em')
field=$(escaped '\\n"];}&lt;\007')
zstd -dq <"$fixtures/cores/tiny-5.3.0.prof.zst" |
	sed "s/^\(D [0-9]* \)Tiny[.]item \(.*\) next:/\1$type \2 $field:/" >"$work/odd.prof"
check 'odd names: the profile has them' grep -qF "$type" "$work/odd.prof"
run tree --format json --prof "$work/odd.prof" "$work/tiny.core"
cp "$work/out" "$work/tree.json"
for verb in 'dot --blocks' dot; do
	# shellcheck disable=SC2086 # a verb with an option
	check_run "odd names: $verb" 0 $verb --min 0 --prof "$work/odd.prof" "$work/tiny.core"
	check "odd names: $verb: they are there" grep -qF '<b>&amp;amp;\\x1B[' "$work/out"
	check_equal "odd names: $verb: no control characters" \
		"$(tr -d '\n\t\040-\176' <"$work/out" | wc -c)" 0
	check "odd names: $verb: Graphviz reads it" dot -Tcanon "$work/out"
	check "odd names: $verb: SVG" dot -Tsvg -o "$work/odd.svg" "$work/out"
	check "odd names: $verb: SVG is XML" xmllint --noout --nonet "$work/odd.svg"
done
dot -Tjson -o "$work/picture.json" "$work/out"
check 'odd names: it shows the tree' tests/cli/pictures.py "$work/picture.json" "$work/tree.json" 0 36
check 'odd names: drawn as they are' jq -e '[.edges[].label // ""] | any(contains("\"];}&amp;lt;"))' \
	"$work/picture.json"

# Charts of series: against the same series as JSON.
series=("$cache0" "$cache2" "$cache5")
# charts NAME OPTION... SNAPSHOT...
charts() {
	local name=$1
	shift
	rm -f "$work/chart.svg"
	check_run "$name" 0 trend -o "$work/chart.svg" "$@"
	check_run "$name: JSON" 0 trend --format json "$@"
	check "$name: it shows the series" tests/cli/chart.py "$work/chart.svg" "$work/out"
}
for by in path type location type,location root function tag module; do
	charts "trend --by $by -o x.svg" --by "$by" "${series[@]}"
	for dump in "$fixtures"/cores/*.core.zst; do
		prof=${dump%.core.zst}.prof.zst
		from=("$dump")
		[ ! -e "$prof" ] || from=(--prof "$prof" "$dump")
		charts "trend --by $by -o x.svg ${dump##*/}" --by "$by" "${from[@]}"
	done
done
run trend -o "$work/chart.svg" "${series[@]}"
check 'chart: what grows, where it is made' grep -q '>grows at every step: .*; made at cache.ml:30;' "$work/chart.svg"
check 'chart: one path grows' grep -q '>1 path grows at every step, most likely a leak' "$work/chart.svg"
charts 'chart of two' $cache0 $cache5
check 'chart of two: it takes three' grep -q 'it takes three snapshots to tell<' "$work/chart.svg"
mkdir "$work/series"
cp $v01/cache-dump/cache.prof "$work/series"
cp "$(plain $cache0)" "$work/series/heap.dump.8975.7"
charts 'chart of what does not grow' $cache0 "$work/series/heap.dump.8975.7"
charts 'chart --keep-order' --keep-order $cache5 $cache0 $cache2
many=()
for i in $(seq 10 49); do
	dump=$cache0
	[ $((i % 3)) -ne 0 ] || dump=$cache2
	cp "$(plain "$dump")" "$work/series/heap.dump.8975.$i"
	many+=("$work/series/heap.dump.8975.$i")
done
charts 'chart of forty' "${many[@]}"
for threads in 1 3; do
	"$hg" trend --threads $threads -o "$work/threads.$threads.svg" "${series[@]}"
done
check_same 'the same chart with three threads' "$work/threads.1.svg" "$work/threads.3.svg"
check_run 'trend --limit 2 -o x.svg' 0 trend --limit 2 -o "$work/x.svg" "${series[@]}"
check_equal 'trend --limit 2 -o x.svg: two names and the rest' \
	"$(grep -c '<text.* x="58".*Courier.*font-size="9.75"' "$work/x.svg")" 3
check_run 'trend -o x.png' 0 trend -o "$work/x.png" "${series[@]}"
check_equal 'chart as PNG: as wide as a screen' "$(od -An -tu1 -j16 -N4 "$work/x.png")" '   0   0   5   0'
check_run 'trend -o x.pdf' 0 trend -o "$work/x.pdf" "${series[@]}"
check 'chart as PDF has its magic' begins_with "$work/x.pdf" '%PDF-'
check_run 'trend --format json -o x.svg' 0 trend --format json -o "$work/x.svg" "${series[@]}"
check 'trend --format json -o x.svg: --format goes before the name' jq -e .rows "$work/x.svg"
refuses 'trend -o x.dot' 2 trend -o "$work/x.dot" "${series[@]}"
refuses 'trend -o x.svg in no folder' 5 trend -o "$work/none/x.svg" "${series[@]}"
refuses 'trend --type ( -o x.svg' 2 trend --type '(' -o "$work/none.svg" "${series[@]}"
check 'trend --type ( -o x.svg: no file' test ! -e "$work/none.svg"

#!/bin/bash
# The retention tree against the dominator tree that it is merged from, by a program apart: paths,
# blocks, own and retained bytes; that its rows add up; the part below a pattern.
. tests/cli/lib.sh

# merges NAME ARGUMENT...: 'tree' is what 'tree --blocks' comes to.
merges() {
	local name=$1
	shift
	"$hg" tree --blocks --format csv "$@" >"$work/blocks" 2>"$work/err" || true
	"$hg" tree --format csv "$@" >"$work/tree" 2>"$work/err" || true
	tests/cli/retention.py "$work/blocks" "$work/tree" >"$work/wrong" 2>&1 || true
	check "$name: paths, blocks, bytes and retained bytes are those of the blocks" \
		grep -qxE '[1-9][0-9]*' "$work/wrong"
	"$hg" summary --format json "$@" 2>"$work/err" |
		jq -r '.totals | "\(.reachable_blocks) \(.reachable_bytes) \(.reachable_bytes)"' >"$work/wanted"
	columns blocks bytes retained_bytes <"$work/tree" | awk '
		{ blocks += $1; bytes += $2 } NR == 1 { retained = $3 }
		END { printf "%d %d %d\n", blocks, bytes, retained }' >"$work/got"
	check_same "$name: rows add up to what is reachable" "$work/got" "$work/wanted"
}

for dump in $tiny $cache0 $cache5 $v01/objs-dump/heap.dump.9001.0 \
	$fixtures/v02/objs-opt/memprof.28958.0.dump \
	$fixtures/ocp/byte-noloc/memprof.8911.0.after_major_collection.dump; do
	merges "${dump#"$fixtures"/}" "$dump"
done
for core in "$fixtures"/cores/tiny-*.core.zst; do
	merges "${core##*/}" --prof "${core%.core.zst}.prof.zst" "$core"
done
for core in "$fixtures"/cores/{fibers,sampled,zoo}-*.core.zst; do
	merges "${core##*/}" "$core"
done

# Recursion does not lengthen paths.
build_dump() {
	"$BUILD/gendump" "$1" "$2" 1 "$work/heap.dump.1.0" >"$work/said"
}
for shape in deeplist deeptree; do
	build_dump $shape 100000
	"$hg" tree --format csv "$work/heap.dump.1.0" >"$work/tree" 2>"$work/err"
	check "$shape: 100,000 blocks are a few rows" test "$(wc -l <"$work/tree")" -lt 12
done

# From a type on: only its blocks, which retain what 'top' says of the type.
core=(--prof "$fixtures/cores/tiny-5.3.0.prof.zst" "$fixtures/cores/tiny-5.3.0.core.zst")
"$hg" top --by type --format csv "${core[@]}" | columns type retained_bytes blocks >"$work/types"
while IFS="$(printf '\t')" read -r type retained blocks; do
	[ "$blocks" -gt 1 ] || continue
	escaped=$(printf '%s' "$type" | sed 's/[][().*?+|^${}\\]/\\&/g')
	"$hg" tree --from "type:^$escaped\$" --format csv "${core[@]}" >"$work/tree" 2>"$work/err" ||
		continue
	check_equal "from '$type': retains what top says" \
		"$(columns retained_bytes <"$work/tree" | head -n 1)" "$retained"
done < <(awk -F '\t' '$1 != ""' "$work/types" | head -n 12)
status=0
"$hg" tree --from type:no-such-type "${core[@]}" >"$work/out" 2>"$work/err" || status=$?
check_equal 'from nothing: exit status' "$status" 2
check 'from nothing: says so' grep -q "nothing matches 'type:no-such-type'" "$work/err"

# Who shares what: the pointers from each holder, counted in the objects.
run tree $cache5
check 'what several hold: by whom' grep -q 'held by stack entry (2 pointers)' "$work/out"

# Where the frame of a stack slot is: its name has that, with columns and the thread.
for core in "$fixtures"/cores/{fibers,zoo,tiny}-*.core.zst; do
	run tree --format json "$core"
	jq -r '.rows[] | select(.depth == 1 and (.path | startswith("stack "))) | .path' "$work/out" >"$work/slots"
	jq -r '.rows[] | select(.depth == 1 and (.path | startswith("stack "))) | .defined_at' "$work/out" >"$work/frames"
	sed -E 's/^.* ([^ ]+:[0-9]+):[0-9]+-[0-9]+( \([^()]*\))?$/\1/; t; s/.*//' "$work/slots" >"$work/wanted"
	check "${core##*/}: a frame has a line" grep -q '^[a-z]*\.ml:[0-9]*$' "$work/frames"
	check "${core##*/}: lines of frames" diff "$work/wanted" "$work/frames"
done

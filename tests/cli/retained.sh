#!/bin/bash
# 'retained': what is lost with a set of blocks as build/oracle finds it, which takes them away and
# searches anew; its rows add up, and say what other verbs say.
# shellcheck disable=SC2016 # programs of awk and jq
. tests/cli/lib.sh

# rows ARGUMENT...: CSV of the parts, tab-separated: part, name, nodes, reachable, blocks, bytes,
# retained blocks and bytes, shared blocks and bytes.
rows() {
	run retained --format csv "$@"
	columns part name nodes reachable blocks bytes retained_blocks retained_bytes shared_blocks \
		shared_bytes <"$work/out" >"$work/rows"
}

# lost ADDRESSES DUMP: what the oracle says.
lost() {
	"$BUILD/oracle" --without "$1" "$(plain "$2")"
}

# of_part PART: retained blocks and bytes of these rows.
of_part() {
	awk -F '\t' -v part="$1" '$1 == part { print $7, $8 }' "$work/rows"
}

# agrees NAME DUMP PATTERN COLUMN VALUE: the blocks that have this in this column of 'objects'.
agrees() {
	local name=$1 dump=$2
	awk -F '\t' -v at="$4" -v value="$5" '$at == value { print $1 }' "$work/objects" \
		>"$work/addresses"
	[ -s "$work/addresses" ] || return 0
	rows "$3" "$dump"
	check_equal "$name: as the oracle takes them away" "$(of_part all)" \
		"$(lost "$work/addresses" "$dump")"
	check_equal "$name: as many" "$(awk -F '\t' '$1 == "all" { print $3 }' "$work/rows")" \
		"$(wc -l <"$work/addresses")"
}

# scattered DUMP: eighteen blocks here and there, each a set of one.
scattered() {
	local dump=$1
	awk -F '\t' '$4 == 1' "$work/objects" >"$work/live"
	awk -v every=$(($(wc -l <"$work/live") / 18 + 1)) 'NR % every == 1 || every == 1' "$work/live" |
		head -n 20 >"$work/some"
	cut -f 1 "$work/some" >"$work/addresses"
	# shellcheck disable=SC2046 # one word for each
	rows $(cat "$work/addresses") "$dump"
	check_equal "$dump: scattered blocks as the oracle takes them away" "$(of_part all)" \
		"$(lost "$work/addresses" "$dump")"
	awk -F '\t' '$1 == "set" { print $2 "\t" $8 }' "$work/rows" >"$work/got"
	cut -f 1,5 "$work/some" >"$work/wanted"
	check_same "$dump: each as objects says" "$work/got" "$work/wanted"
	check "$dump: what none retains alone is left of all" awk -F '\t' '
		$1 == "set" { sum += $8; if ($8 > most) most = $8 }
		$1 == "all" { all = $8 }
		$1 == "jointly" { exit !(all >= most && $8 >= all - sum && $8 <= all - most) }' "$work/rows"
}

count=0
for dump in $(dumps_in "$fixtures"); do
	run objects --format csv "$dump"
	columns address type location reachable retained_bytes <"$work/out" >"$work/objects"
	agrees "${dump#"$fixtures/"} strings" "$dump" string 2 string
	location=$(cut -f 3 "$work/objects" | grep '^[^[]' | sort | uniq -c | sort -rn |
		awk 'NR == 1 { $1 = ""; print substr($0, 2) }')
	[ -z "$location" ] || agrees "${dump#"$fixtures/"} location" "$dump" "$location" 3 "$location"
	scattered "$dump"
	count=$((count + 1))
done
check 'there are fixtures' test "$count" -ge 5
for shape in mix share hash clos listtab; do
	"$BUILD/gendump" "$shape" 20000 1 "$work/heap.dump.1.0" >"$work/said"
	run objects --format csv "$work/heap.dump.1.0"
	columns address type location reachable retained_bytes <"$work/out" >"$work/objects"
	scattered "$work/heap.dump.1.0"
done

# adds_up NAME PATTERN... ARGUMENT...: whoever dominates has all of the set below him, whoever shares all
# that is shared.
adds_up() {
	local name=$1
	shift
	rows "$@"
	check "$name: rows add up" awk -F '\t' '
		$1 == "all" { blocks = $5; bytes = $6; shared = $9; shared_bytes = $10 }
		$1 == "dominator" || $1 == "member" { blocks -= $5; bytes -= $6; holders += $3 }
		$1 == "sharer" { shared -= $9; shared_bytes -= $10 }
		END { exit blocks || bytes || shared || shared_bytes || !holders }' "$work/rows"
	cp "$work/out" "$work/one"
	run retained --format csv --threads 3 "$@"
	check_same "$name: the same with threads" "$work/one" "$work/out"
	run retained --format json "$@"
	jq -r '.rows[] | [.part, .name, .nodes, .reachable, .blocks, .bytes, .retained_blocks,
		.retained_bytes, .shared_blocks, .shared_bytes] | map(. // "" | tostring) | join("\t")' \
		"$work/out" >"$work/got"
	check_same "$name: JSON as CSV" "$work/got" "$work/rows"
}
adds_up 'a line of the source' loc:cache.ml:30 $cache5
adds_up 'lists, most of which hold themselves' 'string list' $cache5
check 'members are told from others' grep -q '^member	string list	' "$work/rows"
for core in "$fixtures"/cores/tiny-*.core.zst; do
	typed=(--prof "${core%.core.zst}.prof.zst" "$core")
	adds_up "${core##*/}" Tiny.item 'type:Map' root:stack "${typed[@]}"
	# A root's set retains what the root does.
	rows root:Tiny.table "${typed[@]}"
	check_equal "${core##*/}: a root as in roots" "$(of_part all | cut -d ' ' -f 2)" \
		"$("$hg" roots --format csv "${typed[@]}" | columns name retained_bytes |
			awk -F '\t' '$1 == "Tiny.table" { print $2 }')"
done

# What people see, of a dump whose numbers are known.
run retained loc:cache.ml:30 string $cache5
cat >"$work/wanted" <<'END'
What would be freed without them, and what they share with others
  blocks     bytes  retained    share         in blocks  shared  set
   9,000  210.9 KB  257.8 KB   26.8 % ###        12,000    32 B  loc:cache.ml:30
  13,115  376.9 KB  376.9 KB   39.1 % ####       13,115     0 B  string
  22,115  587.8 KB  587.8 KB   61.0 % ######     22,115     0 B  all of them
                         0 B    0.0 %                 0          only all of them, none alone

Immediate dominators: the nearest that every path to them passes
  holders      hold  blocks  class, and the one that retains most
    3,000  303.9 KB   9,000  Cache.session, largest 0x7f4110e89750
    9,000  187.5 KB   9,000  string list, of the set itself, largest 0x7f4110e89598
END
head -n 11 "$work/out" >"$work/got"
check_same 'text' "$work/got" "$work/wanted"
run retained loc:cache.ml:30 $cache5
check 'text: who else holds what is shared' grep -qE \
	'^ +1 +32 B +2  tag 0, more than 16 words @ \[array\], 0x7f4110fd9820$' "$work/out"

# Several that hold the same: more than each alone.
check_run 'two that share: fine' 0 retained --format csv "root:stack" 'root:other|global' $cache5
columns part retained_bytes <"$work/out" >"$work/rows"
check 'two that share: what only both retain' awk -F '\t' '
	$1 == "set" { sum += $2 } $1 == "all" { all = $2 } $1 == "jointly" { jointly = $2 }
	END { exit !(all == sum + jointly) }' "$work/rows"

# Order of operands, and what is wrong.
rows string $cache5
cp "$work/rows" "$work/once"
rows $cache5 string
check_same 'the snapshot may come first' "$work/once" "$work/rows"
refuses 'no pattern' 2 retained $cache5
refuses 'a pattern that matches nothing' 2 retained string Cache.sesion $cache5
check 'it is named, with the nearest' grep -q "'Cache.sesion'; the nearest" "$work/err"
refuses 'a bad pattern' 2 retained 'type:(' $cache5
refuses 'no snapshot' 3 retained string LICENSE
printf 'x"\033]0;\n,y.ml|cache.ml' >"$work/name"
run retained "loc:$(cat "$work/name")" --format csv $cache5
check_equal 'a pattern as it was given, in CSV' \
	"$(python3 -c 'import csv, sys
print(list(csv.DictReader(open(sys.argv[1], newline="")))[0]["name"] == "loc:" + open(sys.argv[2]).read())' \
		"$work/out" "$work/name")" True
run retained "loc:$(cat "$work/name")" $cache5
check 'and harmless in text' bash -c '! grep -q "$(printf "\033")" "$1" && grep -qF "\\x1B]0;" "$1"' _ "$work/out"

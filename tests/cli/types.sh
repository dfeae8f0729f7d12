#!/bin/bash
# Types, everywhere a block is shown: two small cores and the profiles of their program, whose
# source, tests/fixtures/cores/tiny.ml, tells what must be there: 200 items in a map, of which those
# with an even number I are the option 'next' of the item 2I; a list of 20 closures.
# shellcheck disable=SC2016 # programs of awk
. tests/cli/lib.sh

# cell NAME TYPE COLUMN: of the row of that type in the CSV of a file.
cell() {
	columns type "$3" <"$1" | awk -F '\t' -v type="$2" '$1 == type { print $2 }'
}

check_top() {
	run top --format csv "${typed[@]}"
	cp "$work/out" "$work/top"
	check_equal "$name: by type if there are types" "$(head -n 1 "$work/top")" \
		type,blocks,bytes,retained_bytes,confidence,estimated_bytes,estimated_error,offheap_bytes,retained_offheap_bytes,made_at
	while read -r count type; do
		check_equal "$name: blocks of type $type" "$(cell "$work/top" "$type" blocks)" "$count"
		check_equal "$name: $type is exact" "$(cell "$work/top" "$type" confidence)" exact
	done <<-END
		200 Tiny.item
		200 Tiny.item Map.Make(String).t
		100 Tiny.item option
		1 Tiny.item Map.Make(String).t ref
		20 (int -> int) list
		1 (module Tiny.Names)
	END
	run top --by type,location --format csv "${typed[@]}"
	check_equal "$name: by type and location" "$(head -n 1 "$work/out")" \
		type,location,blocks,bytes,retained_bytes,confidence,estimated_bytes,estimated_error,offheap_bytes,retained_offheap_bytes
	columns type blocks bytes retained_bytes <"$work/out" >"$work/got"
	columns type blocks bytes retained_bytes <"$work/top" >"$work/wanted"
	check_same "$name: without locations it is the same table" "$work/got" "$work/wanted"
	run top --by tag --type '^Tiny\.item$' --format csv "${typed[@]}"
	columns tag blocks <"$work/out" >"$work/got"
	check_equal "$name: --type selects blocks, whatever the key" "$(cat "$work/got")" \
		"$(printf '0\t200')"
	run top --by root --type 'Map' --format csv "${typed[@]}"
	check "$name: --type selects roots by what they point to" \
		grep -q '^global,Tiny.table,1,' "$work/out"
}

# Sums over blocks make the rows; a class retains what no other block of it dominates.
check_objects() {
	run objects --format csv "${typed[@]}"
	columns address type retained_bytes idom bytes confidence <"$work/out" >"$work/objects"
	awk -F '\t' '{ blocks[$2]++; bytes[$2] += $5; retained[$1] = $3; idom[$1] = $4; class[$1] = $2 }
		END {
			for (block in class) {
				for (above = idom[block]; above in class; above = idom[above])
					if (class[above] == class[block]) break
				if (!(above in class)) sum[class[block]] += retained[block]
			}
			for (type in blocks)
				printf "%s\t%d\t%d\t%d\n", type, blocks[type], bytes[type], sum[type]
		}' "$work/objects" | sort >"$work/wanted"
	columns type blocks bytes retained_bytes <"$work/top" | sort >"$work/got"
	check_same "$name: rows are the sums of their blocks" "$work/got" "$work/wanted"
	check "$name: unknown blocks and only these have no type" awk -F '\t' '
		($2 == "") != ($6 == "unknown") { print; exit 1 }' "$work/objects"
	run summary --format json "${typed[@]}"
	check_equal "$name: typed_blocks are those with a type" \
		"$(jq .totals.typed_blocks "$work/out")" \
		"$(awk -F '\t' '$2 != ""' "$work/objects" | wc -l)"
	check_equal "$name: typed_bytes are theirs" "$(jq .totals.typed_bytes "$work/out")" \
		"$(awk -F '\t' '$2 != "" { sum += $5 } END { print sum }' "$work/objects")"
	check_equal "$name: no shape clashes" "$(jq .totals.shape_clashes "$work/out")" 0
	check "$name: nearly all have a type" jq -e \
		'.totals | 100 * .typed_blocks > 97 * .blocks' "$work/out"
	run summary "${typed[@]}"
	check "$name: coverage and clashes in one line" grep -qE \
		'^  types +9[0-9.]+ % of blocks \(9[0-9.]+ % of bytes\), 0 shape clashes, profile ' \
		"$work/out"
}

# What an item says of itself: its price is its name, and its next one is half of it.
check_item() {
	local text number
	text=$("$hg" object "$1" --depth 50 --format json "${typed[@]}" | jq -r .object.value)
	number=$(sed -nE 's/^\{name = "([0-9]+)"; .*/\1/p' <<<"$text")
	for ((; number % 2 == 0; number /= 2)); do
		text=${text/#"{name = \"$number\"; price = $number.; next = Some "/}
		text=${text%\}}
	done
	[ "$text" = "{name = \"$number\"; price = $number.; next = None}" ] || {
		echo "$number: $text"
		return 1
	}
}

check_values() {
	awk -F '\t' '$2 == "Tiny.item"' "$work/objects" >"$work/items"
	while read -r address _; do
		check "$name: value of $address" check_item "$address"
	done < <(awk 'NR % 20 == 7' "$work/items")
	address=$(awk -F '\t' '$2 == "Tiny.item option" { print $1; exit }' "$work/objects")
	run object "$address" "${typed[@]}"
	check "$name: a constructor and its record" grep -qE \
		'^value: Some \{name = "[0-9]+"; price = [0-9]+\.; next = (None|Some \{.*\})\}$' \
		"$work/out"
	check "$name: its field" grep -qE '^ +0 .* Some\.0 +0x[0-9a-f]+ Tiny\.item, 3 words +\{name = ' \
		"$work/out"
	check "$name: who points to it, by field" grep -qE ' \.next +0x[0-9a-f]+ Tiny\.item, ' "$work/out"
	run object "$address" --depth 1 "${typed[@]}"
	check "$name: --depth" grep -qx 'value: Some ...' "$work/out"
	address=$(awk -F '\t' '$2 == "(int -> int) list" { print $1; exit }' "$work/objects")
	run object "$address" "${typed[@]}"
	check "$name: closures of a list" grep -qE '^value: \[<fun Tiny[^>]*>' "$work/out"
	check "$name: hd" grep -qE '^ +0 .* hd +0x' "$work/out"
}

check_redact() {
	address=$(awk 'NR == 1 { print $1 }' "$work/items")
	for format in text csv json; do
		run object "$address" --redact --format $format "${typed[@]}"
		check "$name: redacted, $format" grep -qE 'next' "$work/out"
		check "$name: no string in it, $format" test "$(grep -cE '= \\?"[0-9]' "$work/out")" -eq 0
		check "$name: no number in it, $format" test "$(grep -cE '= [0-9]' "$work/out")" -eq 0
	done
	string=$("$hg" object "$address" --format json "${typed[@]}" | jq -r '.fields[0].address')
	run object "$string" --format json "${typed[@]}"
	content=$(jq -r .object.content "$work/out")
	check "$name: the content of a string" test -n "$content" -a "$content" != null
	run object "$string" --redact --format json "${typed[@]}"
	check "$name: redacted, it is missing" jq -e '.object | has("content") | not' "$work/out"
	run object "$string" --redact "${typed[@]}"
	check "$name: redacted, in text" test "$(grep -cF -e "\"$content\"" "$work/out")" -eq 0
}

check_patterns() {
	for pattern in Tiny.item 'type:^Tiny[.]item$' 'Tiny.item option' type:option; do
		run why "$pattern" --format json "${typed[@]}"
		jq -r '[.selection.blocks, .selection.reached] | @tsv' "$work/out"
	done >"$work/got"
	options=$(columns type blocks <"$work/top" | awk -F '\t' '$1 ~ /option/ { n += $2 } END { print n }')
	printf '%s\t%s\n' 200 200 200 200 100 100 "$options" "$options" >"$work/wanted"
	check_same "$name: patterns for types" "$work/got" "$work/wanted"
	run why 'Tiny.item option' --format json "${typed[@]}"
	jq -r '.steps[1, 2, -2, -1] | "\(.type): \(.field_name)"' "$work/out" >"$work/got"
	printf '%s\n' 'Tiny.item Map.Make(String).t ref: ' 'Tiny.item Map.Make(String).t: .contents' \
		'Tiny.item: Node.d' 'Tiny.item option: .next' >"$work/wanted"
	check_same "$name: why: from the module's value to the block, field by field" \
		"$work/got" "$work/wanted"
	check "$name: why: the root has the value's name" jq -e '.steps[0].address == "global Tiny.table"' \
		"$work/out"
	run why 'root:Tiny\.handlers' --format json "${typed[@]}"
	check "$name: roots by the value's name" jq -e '.selection.nodes == 1' "$work/out"
}

check_pictures() {
	run tree --blocks --format csv "${typed[@]}"
	columns address type <"$work/out" | grep '^0x' | sort >"$work/got"
	awk -F '\t' '$4 != "" { print $1 "\t" $2 }' "$work/objects" | sort >"$work/wanted"
	check_same "$name: types of the tree are those of the blocks" "$work/got" "$work/wanted"
	run dot --blocks --from 'Tiny.item Map.Make(String).t ref' "${typed[@]}"
	check "$name: dot: types on blocks" grep -qF 'label="Tiny.item Map.Make(String).t ref\n' "$work/out"
	check "$name: dot: fields on arrows" grep -qF '[label=".contents"' "$work/out"
	check "$name: dot: Graphviz reads it" dot -Tsvg -o "$work/picture.svg" "$work/out"
	check "$name: dot: a picture" xmllint --noout "$work/picture.svg"
}

check_declared() {
	run types --format csv "${typed[@]}"
	cp "$work/out" "$work/types"
	check_equal "$name: types: the record" "$(grep '^Tiny\.item,' "$work/types")" \
		'Tiny.item,record,Tiny,200,6400,{ name : string; price : float; mutable next : Tiny.item option },tiny.ml:16,0'
	check_equal "$name: types: a variant" "$(cell "$work/types" "'a option" layout)" "None | Some of 'a"
	check_equal "$name: types: its unit" "$(cell "$work/types" "'a Map.Make(String).t" unit)" Stdlib__Map
	check_equal "$name: types: all typed blocks" \
		"$(columns blocks <"$work/types" | awk '{ n += $1 } END { print n }')" \
		"$(awk -F '\t' '$2 != ""' "$work/objects" | wc -l)"
	run types '^Tiny' --format csv "${typed[@]}"
	check_equal "$name: types RE" "$(wc -l <"$work/out")" 2
	run types --all --format csv "${typed[@]}"
	check "$name: types --all has more" test "$(wc -l <"$work/out")" -gt "$(wc -l <"$work/types")"
}

# Where things are made, by the source, whose lines are found here.
check_places() {
	local source=$fixtures/cores/tiny.ml type pattern
	while IFS=: read -r type pattern; do
		wanted=$(grep -nE "$pattern" "$source" | sed 's/:.*//' | sed 's/^/tiny.ml:/' | paste -sd ';')
		check_equal "$name: $type is made at" "$(cell "$work/top" "$type" made_at)" "$wanted"
	done <<-END
		Tiny.item:let item = [{]
		Tiny.item Map.Make(String).t:Names.add
		Tiny.item Map.Make(String).t ref:ref Names.empty
		(int -> int) list:fun x -> x . i[)] ::
		(int -> int) list ref:= ref [[]
	END
	run types '^Tiny\.item$' --places --format csv "${typed[@]}"
	check_equal "$name: types --places" "$(cat "$work/out")" \
		"$(printf 'type,place,own,exact,direct,kind,located_blocks,located_bytes\nTiny.item,tiny.ml:16,1,1,1,record,0,0')"
	run types 'Map[.]Make' --places --format csv "${typed[@]}"
	check "$name: places: the program's own first, the rest is in map.ml" awk -F , '
		NR == 2 && $2 != "tiny.ml:18" || NR > 2 && (sub(/:[0-9]+$/, "", $2) && $2 != "map.ml" && $3 == 0) {
			print; exit 1
		}' "$work/out"
	run types 'Map[.]Make' --format json "${typed[@]}"
	check_equal "$name: types RE in JSON has the same places" \
		"$(jq -r '.places[] | "\(.type) \(.place)"' "$work/out" | sort)" \
		"$(sort <("$hg" types 'Map[.]Make' --places --format csv "${typed[@]}" | columns type place | tr '\t' ' '))"
	run types 'item opt' --places --format csv "${typed[@]}"
	check_equal "$name: types that are matched by arguments, too, if there are no others" \
		"$(sed -n 2p "$work/out")" 'Tiny.item option,tiny.ml:17,1,1,0,call,0,0'
	run top --by function --format csv "${typed[@]}"
	check "$name: closures by function" grep -qE \
		'^Tiny\.fun tiny\.ml:19,20,640,[0-9]+,exact,,,0,0,tiny\.ml:19$' "$work/out"
	check_equal "$name: closures of all functions" \
		"$(columns blocks <"$work/out" | awk '{ n += $1 } END { print n }')" \
		"$("$hg" objects --format csv "${typed[@]}" | columns tag | grep -c '^247$')"
	mkdir -p "$work/beside"
	cp "$core" "$work/beside/core.zst"
	zstd -dqf "${core%.core.zst}.prof.zst" -o "$work/beside/exe.prof"
	mv "$work/out" "$work/named"
	run top --by function --format csv "$work/beside/core.zst"
	check_same "$name: lines of functions with a profile that lies beside it" "$work/out" "$work/named"
	for places in '' --places; do
		# shellcheck disable=SC2086 # an option or none
		refuses "$name: types that there are not $places" 2 types Tiny.itme $places "${typed[@]}"
		check "$name: types that there are not $places: the nearest" grep -q "'Tiny.itme'; the nearest.*Tiny[.]item" \
			"$work/err"
	done
	refuses "$name: two tables" 2 types --clashes --places "${typed[@]}"
}

for core in "$fixtures"/cores/tiny-*.core.zst; do
	name=$(basename "$core" .core.zst)
	typed=(--prof "${core%.core.zst}.prof.zst" "$core")
	check_top
	check_objects
	check_values
	check_redact
	check_patterns
	check_pictures
	check_declared
	check_places
	run diff --by type --format csv --prof "${core%.core.zst}.prof.zst" "$core" "$core"
	check_equal "$name: diff by type, with itself" "$(cat "$work/out")" \
		type,blocks_old,blocks_new,bytes_old,bytes_new,bytes_delta,retained_old,retained_new,retained_delta,offheap_delta,retained_offheap_delta,growth_share,made_at
	cp "$work/top" "$work/once"
	run top --format csv --threads 3 "${typed[@]}"
	check_same "$name: the same with 3 threads" "$work/once" "$work/out"
done

# Profiles are told by their bytes, found by their names, and refused if they are of something else.
core=$fixtures/cores/tiny-4.13.1.core.zst
mkdir "$work/found" "$work/stale"
cp $core "$work/found/core.zst"
cp $core "$work/stale/core.zst"
zstd -dqf $fixtures/cores/tiny-4.13.1.prof.zst -o "$work/found/exe.prof"
zstd -dqf $fixtures/cores/tiny-5.3.0.prof.zst -o "$work/stale/exe.prof"
run top --format csv --prof $fixtures/cores/tiny-4.13.1.prof.zst $core
cp "$work/out" "$work/wanted"
run top --format csv "$work/found/core.zst"
check_same 'exe.prof beside the snapshot is found' "$work/out" "$work/wanted"
run top --format csv --prof $v01/tiny/t1.prof --prof "$work/found/exe.prof" $core
check_same 'a source of locations beside it' "$work/out" "$work/wanted"
check_run '--require-types with a profile' 0 top --require-types "$work/found/core.zst"
run top --by root --format csv "$work/found/core.zst"
columns kind name retained_bytes <"$work/out" | sort >"$work/got"
run roots --format csv "$work/found/core.zst"
columns kind name retained_bytes <"$work/out" | sort >"$work/named"
check_same 'top --by root names values as roots does' "$work/got" "$work/named"
check 'by what the profile calls them' grep -q '^global	Tiny\.' "$work/named"
refuses 'a profile of another program' 3 top --prof "$work/stale/exe.prof" $core
refuses 'two profiles of types' 2 top --prof "$work/stale/exe.prof" --prof "$work/found/exe.prof" $core
run top --format csv "$work/stale/core.zst"
check_equal 'one of another program, found: no types' "$status $(head -n 1 "$work/out")" \
	'0 location,blocks,bytes,retained_bytes,confidence,estimated_bytes,estimated_error,offheap_bytes,retained_offheap_bytes'
run summary "$work/stale/core.zst"
check 'and the summary says so' grep -qE '^  types +none: .*exe\.prof ' "$work/out"
run top "$work/stale/core.zst"
check 'and a note does' grep -q '^heapgraph: .*exe\.prof ' "$work/err"
refuses 'and types that are required fail' 3 top --require-types "$work/stale/core.zst"
run top --by type --format csv $core
check 'without a profile, blocks that describe themselves' grep -q '^string,[0-9]*,' "$work/out"
refuses 'and why fails' 2 why 'Tiny.item' $core
check 'and says that there are no types' \
	grep -q "nothing matches 'Tiny.item'; the types are not known" "$work/err"
run top $core
check 'and top how to get types and locations' \
	grep -q '^neither types nor locations are known: heapgraph-prof ' "$work/out"
run top --by tag $core
check_equal 'but only where one is asked for' "$(grep -c 'heapgraph-prof' "$work/out")" 0
refuses 'required types that nobody made' 3 top --require-types $core
check 'and where they were looked for' grep -q 'has no types: no exe\.prof' "$work/err"
refuses 'a profile that is none' 3 top --prof README.md $core
check 'and which it is' grep -q 'README\.md: is no profile' "$work/err"
mkdir "$work/empty"
cp $core "$work/empty/core.zst"
: >"$work/empty/exe.prof"
run summary "$work/empty/core.zst"
check 'an empty one, found, is named' grep -qE '^  types +none: .*empty/exe\.prof is not of heapgraph-prof' \
	"$work/out"
head -c 100000 "$work/found/exe.prof" >"$work/cut.prof"
refuses 'a profile cut short' 3 top --prof "$work/cut.prof" $core

# With flambda, values of a module whose code has not ended have static blocks of their own.
unfinished=$fixtures/cores/unfinished-4.14.1-flambda
run roots --format csv --prof "$unfinished.prof.zst" "$unfinished.core.zst"
columns name type <"$work/out" >"$work/named"
check 'flambda: a value is known by the name of its block' \
	grep -qx 'Unfinished.numbers	string list' "$work/named"
check 'flambda: and by what the code makes of it in the end' \
	grep -qx 'Unfinished.log	(int \* string) list ref' "$work/named"
run tree --format json --prof "$unfinished.prof.zst" "$unfinished.core.zst"
check_equal 'flambda: where they are defined' \
	"$(jq -r '.rows[] | select(.name == ("global Unfinished.numbers", "global Unfinished.log")) | .defined_at' "$work/out" |
		sort | xargs)" 'unfinished.ml:6 unfinished.ml:7'

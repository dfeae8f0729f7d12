#!/bin/bash
# The facts of every dump - totals, roots, kinds of fields, tags, locations - equal those that an
# independent reader counted: expected/indep-N.txt beside the dumps.
# shellcheck disable=SC2016 # conditions of awk
. tests/cli/lib.sh

# The numbers of the independent reader, by 'key' and by 'key subkey'; the first one counts.
declare -A facts=()

read_facts() {
	local key number
	facts=()
	while IFS=$'\t' read -r key number; do
		facts[$key]=$number
	done < <(awk -F '\t' '
		$1 == "site" || $1 == "tag" { next }
		!($1 in seen) { seen[$1]; print $1 "\t" $2 + 0 }
		!(($1, $2) in seen) { seen[$1, $2]; print $1 " " $2 "\t" $3 + 0 }' "$truth")
}

# site_sum AWK-CONDITION: blocks of the sites for which it holds.
site_sum() {
	awk -F '\t' "\$1 == \"site\" && \$2 ~ /^[0-9]/ && $1 { sum += \$2 } END { print sum + 0 }" \
		"$truth"
}

# The columns of a 'site' line: 2 blocks, 3 reachable, 4 words, 5 how, 6 id, 7 location, 8 tag.
# Id 0 is that of blocks without any; the reader counts it among the predefined ones.
is_predefined='($5 == "predefined" && $6 != 0)'
is_recovered='($5 == "bit21" && $7 != "none")'
is_located="($is_predefined || \$5 != \"predefined\" && \$5 != \"unknown\" && \$7 != \"none\")"

# by_location COLUMN FACTOR: location, blocks and another column's sum of the located sites; all
# without a location are one of the name "".
by_location() {
	awk -F '\t' -v column="$1" -v factor="$2" "
		\$1 == \"site\" && \$2 ~ /^[0-9]/ && !$is_predefined {
			name = $is_located ? \$7 : \"\"
			blocks[name] += \$2; sum[name] += \$column
		}
		END { for (name in sum) print name \"\t\" blocks[name] \"\t\" sum[name] * factor }" \
		"$truth" | sort
}

check_totals() {
	{
		echo "blocks ${facts[blocks]-0}"
		echo "bytes $((${facts[words]-0} * 8))"
		echo "reachable_blocks ${facts[reachable_blocks]-0}"
		echo "reachable_bytes $((${facts[reachable_words]-0} * 8))"
		echo "unreachable_blocks ${facts[unreachable_blocks]-0}"
		echo "pointers $((${facts[field block]-0} + ${facts[field infix]-0}))"
		echo "infix_pointers ${facts[field infix]-0}"
		echo "dangling_pointers ${facts[field chunk_other]-0}"
		echo "immediates $((${facts[field immediate]-0} + ${facts[field zero]-0}))"
		echo "code_pointers ${facts[field code]-0}"
		echo "outside_pointers ${facts[field outside]-0}"
		echo "chunk_bytes ${facts[chunk_bytes]-0}"
		echo "recovered_blocks $(site_sum "$is_recovered")"
		echo "located_blocks $(site_sum "$is_located")"
	} >"$work/wanted"
	cut -d ' ' -f 1 "$work/wanted" | jq -rR --slurpfile summary "$work/summary" \
		'"\(.) \($summary[0].totals[.] // 0)"' >"$work/got"
	check_same "$name: totals" "$work/got" "$work/wanted"
}

check_tags() {
	run top --by tag --format csv "$dump"
	columns tag blocks bytes <"$work/out" | sort -n >"$work/got"
	awk -F '\t' '$1 == "tag" { print $2 "\t" $3 "\t" $4 * 8 }' "$truth" | sort -n >"$work/wanted"
	cut -f 1,2 "$work/got" >"$work/got.tags"
	cut -f 1,2 "$work/wanted" >"$work/wanted.tags"
	check_same "$name: blocks of each tag" "$work/got.tags" "$work/wanted.tags"
}

check_roots() {
	run info --format json "$dump"
	check_equal "$name: entries of the stack" "$(jq '.roots.stack // 0' "$work/out")" \
		"${facts[stack_entries]-0}"
	check_equal "$name: chunks" "$(jq '.heap.chunks' "$work/out")" "${facts[chunks]-0}"
}

check_locations() {
	run top --by location --format csv "$dump"
	columns location blocks bytes <"$work/out" >"$work/rows"
	grep -v '^\[' "$work/rows" | sort >"$work/got"
	by_location 4 8 >"$work/wanted"
	check_same "$name: blocks and bytes of each location, recovered ids included" \
		"$work/got" "$work/wanted"
	check_equal "$name: blocks with a predefined id" \
		"$(awk -F '\t' '/^\[/ { sum += $2 } END { print sum + 0 }' "$work/rows")" \
		"$(site_sum "$is_predefined")"
	run objects --format csv "$dump"
	columns location reachable <"$work/out" | awk -F '\t' '$1 !~ /^\[/ { sum[$1] += $2 }
		END { for (name in sum) print name "\t" sum[name] }' | sort >"$work/got"
	by_location 3 1 | cut -f 1,3 >"$work/wanted"
	check_same "$name: reachable blocks of each location" "$work/got" "$work/wanted"
}

# The reader of OCP dumps has other facts; that of Gc.stat is recorded in the dump itself.  Section
# FINA has five one-byte numbers and then the finalisation functions and their values, a word each.
check_ocp() {
	jq -r '.totals | .blocks, .bytes / 8, .live_blocks, .live_words, .pointers,
		.code_pointers, .immediates // 0' "$work/summary" >"$work/got"
	{
		echo "${facts[blocks]-0}"
		echo "${facts[words]-0}"
		echo "${facts[gc_stat live_blocks]-0}"
		echo "${facts[gc_stat live_words]-0}"
		echo "${facts[field ptr]-0}"
		echo "${facts[field fun]-0}"
		echo "${facts[field int]-0}"
	} >"$work/wanted"
	check_same "$name: totals, and Gc.stat as recorded" "$work/got" "$work/wanted"
	run info --format json "$dump"
	jq -r '.roots.stack // 0, .roots.finaliser // 0, .heap.chunks' "$work/out" >"$work/got"
	{
		echo "${facts[roots stack]-0}"
		echo $(((${facts[fina_bytes]-0} - 5) / 8))
		echo "${facts[chunks]-0}"
	} >"$work/wanted"
	check_same "$name: roots and chunks" "$work/got" "$work/wanted"
}

# check_facts FOLDER: of the dumps on stdin, which are below it.
check_facts() {
	local folder=$1
	while IFS= read -r dump; do
		truth=$(dirname "$dump")/expected/indep-$(index_of "$dump").txt
		name=${dump#"$folder/"}
		if [ ! -f "$truth" ]; then
			not_ok "$name" "no facts"
			continue
		fi
		read_facts
		run summary --format json "$dump"
		cp "$work/out" "$work/summary"
		case $name in
		ocp/*)
			check_ocp
			check_tags
			;;
		*)
			check_totals
			check_roots
			check_tags
			check_locations
			;;
		esac
	done
}

dumps_in "$fixtures" >"$work/dumps"
check_facts "$fixtures" <"$work/dumps"
if has_more; then
	more_dumps >"$work/list"
	# That of a million blocks takes as long as all others together.
	if is_thorough; then cat "$work/list"; else grep -v /mid/ "$work/list"; fi >"$work/dumps"
	check_facts "$more" <"$work/dumps"
fi

#!/bin/bash
# Waste: sums, formats, what there is no answer for, and contents that are not to be shown.  Whether it is
# right is for tests/ocaml/waste, with a program that says so.
# shellcheck disable=SC2016 # programs of jq
. tests/cli/lib.sh

for core in tiny-4.13.1 tiny-5.3.0; do
	typed=(--prof "$fixtures/cores/$core.prof.zst" "$fixtures/cores/$core.core.zst")
	run waste --format csv "${typed[@]}"
	check_equal "$core: fine" "$status" 0
	mv "$work/out" "$work/waste.csv"
	run waste --format json "${typed[@]}"
	mv "$work/out" "$work/waste.json"
	check "$core: sections are the sums of their rows" jq -e '. as $all | .sections | length == 9 and
		all(.[]; . as $s | [$all.rows[] | select(.section == $s.section)] |
			length == $s.rows and ((map(.saved_bytes) | add) // 0) == $s.saved_bytes and
			((map(.blocks) | add) // 0) == $s.blocks and ((map(.bytes) | add) // 0) == $s.bytes)' \
		"$work/waste.json"
	jq -r '.rows[] | [.section, .type, .address, .blocks, .saved_bytes, .content] | @tsv' \
		"$work/waste.json" >"$work/got"
	columns section type address blocks saved_bytes content <"$work/waste.csv" >"$work/wanted"
	check_equal "$core: JSON as CSV" "$(cut -f 1-5 "$work/got")" "$(cut -f 1-5 "$work/wanted")"
	check "$core: the most first" jq -e '[.rows[] | [.section, .saved_bytes]] | group_by(.[0]) |
		all(.[]; map(.[1]) == (map(.[1]) | sort | reverse))' "$work/waste.json"
	"$hg" objects --format csv "${typed[@]}" >"$work/objects" 2>"$work/err"
	check_equal "$core: unreachable as objects has them" \
		"$(jq '.sections[] | select(.section == "unreachable") | .blocks, .bytes' "$work/waste.json")" \
		"$(columns reachable bytes <"$work/objects" | awk '!$1 { n++; sum += $2 } END { print n + 0; print sum + 0 }')"
	check_equal "$core: options as objects has them" \
		"$(jq '[.rows[] | select(.section == "options") | .saved_bytes] | add' "$work/waste.json")" \
		"$(columns type reachable tag words segment bytes <"$work/objects" |
			awk -F '\t' '$1 ~ / option$/ && $2 && $4 == 1 && $5 != "static" { sum += $6 } END { print sum + 0 }')"
	run waste --threads 3 --format csv "${typed[@]}"
	check_same "$core: the same with threads" "$work/out" "$work/waste.csv"

	# Equal strings, by the contents that object has.
	columns section blocks address content <"$work/waste.csv" | grep '^strings' | head -n 1 >"$work/first"
	IFS=$'\t' read -r _ many address content <"$work/first"
	check_equal "$core: the content of the first string" \
		"$("$hg" object --format json "${typed[@]:0:2}" "$address" "${typed[2]}" | jq -r .object.value)" "$content"
	check "$core: several have it" test "$many" -gt 1
	run waste --redact --limit 0 "${typed[@]}"
	check "$core: --redact: no contents" sh -c "! grep -q 'for example\|$(tr -d '"' <<<"$content")' '$work/out'"
	for format in csv json; do
		run waste --redact --format $format "${typed[@]}"
		check "$core: --redact: no contents in $format" sh -c "! grep -q '$(tr -d '"' <<<"$content")' '$work/out'"
	done
	run waste --limit 1 --format csv "${typed[@]}"
	check_equal "$core: --limit is of each section" "$(columns section <"$work/out" | sort | uniq -d)" ''
done

# What cannot be told is said, and has no rows.
run waste --format json --no-host-files "$fixtures/cores/tiny-5.3.0.core.zst"
check 'without types: strings and garbage only' jq -e '[.sections[] | select(.missing == null) | .section] ==
	["strings", "unreachable"] and ([.rows[].section] | unique) == ["strings", "unreachable"]' "$work/out"
run waste $tiny
check 'a dump without contents says so' grep -q 'equal strings .*the file has no contents' "$work/out"

#!/bin/bash
# Heap profiles (.hp): what the original profiler could type, to the block; and its mistakes, by the
# numbers of docs/outputs.md, of which none is left.
. tests/cli/lib.sh

# sample FILE N: the lines of the Nth sample, "TYPE[::FILE[LINE][COLUMNS]] NUMBER".
sample() {
	awk -v wanted="$2" '/^BEGIN_SAMPLE/ { n++; next } /^END_SAMPLE/ { inside = 0; next }
		n == wanted { sub(/^  /, ""); print }' "$1"
}

# total FILE: the sum of the first sample.
total() {
	sample "$1" 1 | awk '{ sum += $NF } END { print sum + 0 }'
}

# amount FILE NAME: the number behind a name in the first sample, 0 if it is not there.
amount() {
	sample "$1" 1 | awk -v name="$2" '$1 == name { found = $2 } END { print found + 0 }'
}

# joined FILE: the original broke lines (mistake 6): puts the first sample's together again.
joined() {
	sample "$1" 1 | awk '{ text = held $0; held = "" }
		text ~ / [0-9]+$/ { print text; next } { held = text "_" }'
}

# compare EXPECTED GOT SOURCE: what differs at the locations of this source.  Variables of types
# stand for any type; lines of one location and type are added up.
compare() {
	joined "$1" >"$work/expected.lines"
	sample "$2" 1 >"$work/got.lines"
	awk -v source="$3" '
		function split_name(name) {
			at = 0
			while (match(substr(name, at + 1), /::/))
				at += RSTART + 1
			type = substr(name, 1, at - 2)
			place = substr(name, at + 1)
		}
		function pattern(type,   out) {
			out = type
			gsub(/[][().*+?{}|^$<>]/, "[&]", out)
			gsub(/\[\^\]/, "\\^", out)
			gsub(/_?\047[a-z]+/, ".+", out)
			return "^" out "$"
		}
		NR == FNR {
			if (!index($1, "::"))
				next
			split_name($1)
			if (index(place, source "[") == 1)
				expected[place SUBSEP type] += $2
			next
		}
		index($1, "::") { split_name($1); got[place SUBSEP type] += $2 }
		END {
			for (key in expected) {
				split(key, wanted, SUBSEP)
				sum = 0
				for (other in got) {
					split(other, have, SUBSEP)
					if (have[1] == wanted[1] && have[2] ~ pattern(wanted[2]))
						sum += got[other]
				}
				compared++
				if (sum != expected[key])
					print wanted[2] "::" wanted[1], expected[key], sum
			}
			print compared + 0 >"'"$work/compared"'"
		}' "$work/expected.lines" "$work/got.lines" | sort
}

# What the original took for a list: the 50 lists, and as many lazy values and their functions,
# which have the location of what is delayed.
lazy_mistake='int_list::objs.ml[47][19-35] 150 50'

# compare_set FOLDER: every dump of the set in both variants.
compare_set() {
	local folder=$1 dump n variant source name wanted
	name=$(basename "$folder")
	source=$(basename "$(find "$folder" -name '*.cmt')" .cmt).ml
	while read -r dump; do
		n=$(index_of "$dump")
		run hp --loc -I "$folder" --prof "$(echo "$folder"/*.prof)" -o "$work/set.hp" "$dump"
		check_equal "$name $n: exit status" "$status" 0
		for variant in A B; do
			local file=$folder/expected/orig-$variant/heap.$n.loc.hp
			[ -s "$file" ] || continue
			wanted=
			case $name-$variant in objs-dump-A) wanted=$lazy_mistake ;; esac
			check_equal "$name $n: as the original, variant $variant" \
				"$(compare "$file" "$work/set.hp" "$source")" "$wanted"
			cat "$work/compared" >>"$work/all.compared"
		done
	done < <(find "$folder" -maxdepth 1 -name 'heap.dump.*' | sort)
}

for folder in "$v01"/*/; do
	[ "$(basename "$folder")" = cache-m ] || compare_set "${folder%/}"
done
check 'many lines were compared' \
	test "$(awk '{ sum += $1 } END { print sum }' "$work/all.compared")" -gt 40
if has_more; then
	: >"$work/all.compared"
	for folder in "$more"/v01/*/; do
		compare_set "${folder%/}"
	done
	check 'all sets: every line of own files that the original wrote' \
		test "$(awk '{ sum += $1 } END { print sum }' "$work/all.compared")" -ge 200
else
	skip 'all sets of the original' 'not here'
fi

# Without locations the same, summed over locations.
run hp -o "$work/noloc.hp" $cache5
run hp --loc -o "$work/loc.hp" $cache5
sample "$work/loc.hp" 1 | sed 's/::[^ ]*//' | awk '$1 == "role" { sum += $2 } END { print sum }' >"$work/got"
check_equal 'without locations: sums' "$(amount "$work/noloc.hp" role)" "$(cat "$work/got")"
check_equal 'every block is in a line' "$(total "$work/noloc.hp")" 36816
check_equal 'every block is in a line, with locations' "$(total "$work/loc.hp")" 36816
run hp --bytes -o "$work/bytes.hp" $cache5
check_equal '--bytes: exit status' "$status" 0
check_equal '--bytes: all of them' "$(total "$work/bytes.hp")" \
	"$("$hg" objects --format csv $cache5 | columns bytes | awk '{ sum += $1 } END { print sum }')"
check '--bytes: says so' grep -q '^VALUE_UNIT "bytes"$' "$work/bytes.hp"
printf 'JOB "Types"\nDATE "---"\nSAMPLE_UNIT "GC"\nVALUE_UNIT "Values"\nBEGIN_SAMPLE 0.\n' >"$work/wanted"
head -n 5 "$work/noloc.hp" >"$work/got"
check_same 'the head is that of the original' "$work/got" "$work/wanted"
check_equal 'one snapshot is two samples, as hp2ps needs them' \
	"$(grep -c '^BEGIN_SAMPLE [01]\.$' "$work/noloc.hp")" 2
sample "$work/noloc.hp" 1 >"$work/first"
sample "$work/noloc.hp" 2 >"$work/second"
check_same 'which are equal' "$work/first" "$work/second"
check_equal 'a name is in one line' "$(cut -d ' ' -f 1 "$work/first" | sort | uniq -d)" ''
run hp $cache5
check_same 'stdout' "$work/out" "$work/noloc.hp"
refuses '--ps without a file' 2 hp --ps $tiny
refuses 'a folder as output' 5 hp -o "$work" $tiny

# share DUMP EXPECTED: per cent of its blocks that have a type, and that the original counted.
share() {
	local typed all original
	read -r typed all < <("$hg" summary --format json "$1" 2>"$work/said" |
		jq -r '.totals | "\(.typed_blocks) \(.blocks)"')
	original=$(joined "$2" | awk '{ sum += $NF } END { print sum + 0 }')
	echo "$((typed * 100 / all)) $((original * 100 / all))"
}
while read -r set n wanted; do
	dump=$(find "$v01/$set" -name "heap.dump.*.$n" -o -name "heap.dump.*.$n.zst")
	check_equal "$set $n: per cent of blocks with a type, and that the original counted" \
		"$(share "$dump" "$v01/$set/expected/orig-B/heap.$n.loc.hp")" "$wanted"
done <<END
tiny 0 82 40
cache-dump 0 98 55
cache-dump 5 94 58
cache-m 24 91 61
variants-dump 0 97 62
stdmagic 0 97 58
objs-dump 0 94 24
longty 0 97 43
busy-hup 7 98 20
recty 0 83 0
END

# The mistakes of the original.

sites_of() { # INDEP LOCATION: blocks there
	awk -F '\t' -v place="$2" '$1 == "site" && $7 == place { sum += $2 } END { print sum }' "$1"
}
check_equal 'mistake 1: locations whose 22nd bit the header lost' \
	"$(amount "$work/loc.hp" 'string_list::cache.ml[30][11-50]')" \
	"$(sites_of $v01/cache-dump/expected/indep-5.txt cache.ml:30:11-50)"
check_equal 'mistake 1: the original has none of them' \
	"$(grep -c 'cache.ml\[30\]\[11-50\]' $v01/cache-dump/expected/orig-B/heap.5.loc.hp || true)" 0
check_equal 'mistake 2: records are typed' "$(amount "$work/loc.hp" Cache.session)" \
	"$(sed -n 's/^round 5: sessions=\([0-9]*\).*/\1/p' $v01/cache-dump/stdout.txt)"
mkdir "$work/tiny"
cp $tiny $v01/tiny/t1.prof "$work/tiny"
run hp -I "$work/nowhere" -I $v01/tiny --prof $v01/tiny/t1.prof -o "$work/o.hp" "$work/tiny/heap.dump.29370.0"
check_equal 'mistake 3: a folder of types that is missing' "$status $(amount "$work/o.hp" r_list)" '0 10'

mkdir "$work/obj" "$work/objs"
cp $v01/objs-dump/heap.dump.9001.0 $v01/objs-dump/objs.prof "$work/objs"
cp $v01/tiny/t1.cmt "$work/obj/obj.cmt"
cp $v01/objs-dump/objs.cmt "$work/obj"
run hp --loc -I "$work/obj" -o "$work/o.hp" "$work/objs/heap.dump.9001.0"
check_equal 'mistake 4: objs.ml is not the source of Obj' \
	"$(amount "$work/o.hp" '(int_->_int)_list::objs.ml[54][14-41]')" 100
# The same name, in another folder, of another program.
mkdir -p "$work/two/a" "$work/two/b"
cp $v01/cache-dump/cache.cmt "$work/two/a"
cp $fixtures/v02/cache-opt/cache.cmt "$work/two/b"
run hp --loc -I "$work/two/a" -I "$work/two/b" -o "$work/o.hp" $cache5
check_equal 'mistake 4: the first folder with the source tells' \
	"$(amount "$work/o.hp" 'role::cache.ml[28][49-57]')" 1000

# one_block TAG WOSIZE ID FIELD...: a 0.1 dump of a block.
one_block() {
	byte 8
	word 1
	printf 'x'
	byte 0
	words 1048576 1052672
	byte 1
	word 1048584
	byte "$1"
	shift
	words "$@"
	byte 255
	words 0 0 3 1 1 0 1
}

# One block of the runtime: a line of a few letters.
one_block 252 1 10 >"$work/heap.dump.1.0"
run hp -o "$work/o.hp" "$work/heap.dump.1.0"
check_equal 'mistake 5: a short sample' "$(sample "$work/o.hp" 1)" 'string 1'
run hp -o "$work/o.hp" $tiny
check_equal 'mistake 5: the sample of tiny' "$(total "$work/o.hp")" 247
run hp --loc -o "$work/o.hp" $v01/longty/heap.dump.21592.0
check_equal 'mistake 6: wide types are in one line' \
	"$(grep -v -E '^(  [^ ]+ [0-9]+|(BEGIN|END)_SAMPLE [01]\.|[A-Z_]+ ".*")$' "$work/o.hp" || true)" ''
name=configuration_entry_with_long_name
check_equal 'mistake 6: and in one line only' \
	"$(amount "$work/o.hp" "${name}_*_${name}_*_$name::longty.ml[3][12-35]")" \
	"$(sites_of $v01/longty/expected/indep-0.txt longty.ml:3:12-35)"
run hp -o "$work/o.hp" $v01/recty/heap.dump.30155.0
check_equal 'mistake 7: a recursive object type' "$status $(total "$work/o.hp")" '0 783'
check_equal 'mistake 7: its name' "$(amount "$work/o.hp" '<_me_:__;_v_:_int_>_list')" 20
run hp -o "$work/o.hp" $v01/variants-dump/heap.dump.8993.0
check_equal 'mistake 8: no variables' "$(grep -c "'" "$work/o.hp" || true)" 0
check_equal 'mistake 8: types are those of the values' \
	"$(amount "$work/o.hp" '(int,_Variants.shape)_bucketlist')" 400
run hp --loc -o "$work/o.hp" $v01/variants-dump/heap.dump.8993.0
check_equal 'mistake 9: functions' \
	"$(amount "$work/o.hp" 'shape_->_float::variants.ml[52][14-36]') $(amount "$work/o.hp" 'shape_->_float::variants.ml[23][11-209]')" \
	'8 1'
mkdir "$work/damaged"
head -c 5000 $v01/tiny/t1.cmt >"$work/damaged/t1.cmt"
run summary -I "$work/damaged" $tiny
check_equal 'mistake 10: a .cmt that cannot be read is tried once' \
	"$(grep -c "$work/damaged/t1.cmt" "$work/err")" 1
check 'mistake 10: where it is wrong' grep -q "$work/damaged/t1.cmt tells no types: .*, at offset [0-9]*" "$work/err"

# Another program is in the current folder, built by a later compiler.
mkdir -p "$work/elsewhere/build"
sed 's/Caml2012T001/Caml1999T030/; s/Caml1999I014/Caml1999I030/' $v01/tiny/t1.cmt \
	>"$work/elsewhere/build/t1.cmt"
(cd "$work/elsewhere" && "$hg" summary "$top/$tiny") >"$work/out" 2>"$work/err"
check_equal 'files of other versions that nobody named are passed over' \
	"$(grep -c '^  types .* %' "$work/out") $(cat "$work/err")" '1 '
run summary -I "$work/elsewhere" $tiny
check 'one that was named is said' \
	grep -q "$work/elsewhere/build/t1.cmt tells no types: it is of another version of OCaml" "$work/err"

mkdir "$work/series"
cp $v01/tiny/t1.prof $v01/tiny/t1.cmt "$work/series"
for n in 0 99 100 101 250; do
	cp $tiny "$work/series/heap.dump.29370.$n"
done
cd "$work/series"
run -v 1 -heaps 29370
cd "$top"
check_equal '-heaps: exit status' "$status" 0
check_equal 'mistake 11: dumps behind the hundredth' \
	"$(sed -n 's/^BEGIN_SAMPLE //p' "$work/series/29370.hp" | tr '\n' ' ')" '0. 99. 100. 101. 250. '
check '-heaps says what it has written' grep -q '29370.hp: written' "$work/err"
check '-v 1: progress' grep -q 'heap.dump.29370.100, 3 of 5' "$work/err"

# Annotations of another kind, as the compiler writes them when a unit has an error: the tests of
# the reader make such a file and read it (test_cmt400).
check 'mistake 12: partial .cmt files' \
	"$BUILD/tests/test_cmt400"

# A source called "ml".
{
	printf '\204\225\246\276\0\0\0\040\0\0\0\007\0\0\0\100\0\0\0\100'
	printf '\240\101\220\260\001\020\001\260\300\042ml\101\100\101\300\004\002\101\100\102\100\100'
} >"$work/short.prof"
size=$(($(wc -c <"$work/short.prof") - 20))
byte "$size" | dd of="$work/short.prof" bs=1 seek=7 conv=notrunc 2>/dev/null
one_block 0 1 4097 1 >"$work/heap.dump.2.0"
run hp --loc --prof "$work/short.prof" -o "$work/o.hp" "$work/heap.dump.2.0"
check_equal 'mistake 13: short names of files' "$(sample "$work/o.hp" 1)" 'unknown::ml[1][1-2] 1'
run hp -I $fixtures/v02/cache-opt -o "$work/o.hp" $fixtures/v02/cache-opt/memprof.*.dump*
check_equal 'mistake 14: native code' "$status $(amount "$work/o.hp" Cache.session)" '0 500'
{
	byte 4
	printf '\1\0\0\0x'
	head -c 200 /dev/zero
} >"$work/heap.dump.3.0"
refuses 'mistake 14: 32 bits, which no writer ever wrote' 3 hp "$work/heap.dump.3.0"

# The historical form writes PID.hp where it is called, and has hp2ps draw it.
mkdir "$work/historical" "$work/bin"
cp $cache0 $v01/cache-dump/cache.prof $v01/cache-dump/cache.cmt "$work/historical"
cat >"$work/bin/hp2ps" <<'END'
#!/bin/sh
echo "called with $*"
cp "$1" drawn
END
chmod +x "$work/bin/hp2ps"
cd "$work/historical"
run -loc -heap heap.dump.8975.0
check_equal 'without hp2ps' "$status" 0
check '-heap says what it has written' grep -q '8975.hp: written' "$work/err"
check_equal '-loc: by type and location' "$(amount 8975.hp 'role::cache.ml[28][65-83]')" 166
PATH=$work/bin:$PATH run -heap heap.dump.8975.0
check_same 'hp2ps gets the file' 8975.hp drawn
check 'what hp2ps says goes to stderr' grep -q 'called with 8975.hp' "$work/err"
check_equal 'without -loc: by type' "$(amount 8975.hp role)" 333
check_equal 'no file is left over' "$(find . -name '8975.hp?*' | wc -l)" 0
echo old >8975.hp
mkdir "$work/historical/none"
run -heap none
check_equal 'a failure leaves the file of before' "$(cat 8975.hp)" old

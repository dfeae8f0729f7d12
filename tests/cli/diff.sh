#!/bin/bash
# diff and trend: what grows between snapshots of the same program.
# shellcheck disable=SC2016 # programs of awk
. tests/cli/lib.sh

for key in path type location tag module root; do
	for dump in $tiny $cache5 $fixtures/ocp/byte-noloc/memprof.8911.0.after_major_collection.dump; do
		check_run "diff of a dump with itself by $key: runs" 0 \
			diff --by $key --format csv "$dump" "$dump"
		check_equal "diff of a dump with itself by $key: empty" "$(wc -l <"$work/out")" 1
	done
	run diff --by $key --format csv $cache0 $cache5
	names=$key
	[ $key != root ] || names='kind name'
	# shellcheck disable=SC2086 # words
	columns $names blocks_old blocks_new bytes_old bytes_new bytes_delta retained_old \
		retained_new retained_delta <"$work/out" | sort >"$work/forth"
	run diff --by $key --format csv $cache5 $cache0
	# shellcheck disable=SC2086 # words
	columns $names blocks_new blocks_old bytes_new bytes_old bytes_delta retained_new \
		retained_old retained_delta <"$work/out" |
		awk -F '\t' -v OFS='\t' '{ $(NF - 3) = -$(NF - 3); $NF = -$NF; print }' |
		sort >"$work/back"
	# The cache is held by several roots together, so that no single one of them grows.
	[ $key = root ] || check "diff by $key: there is growth" test -s "$work/forth"
	check_same "diff(A,B) = -diff(B,A) by $key" "$work/forth" "$work/back"
done

# The growth is what top says of the two.
for dump in $cache0 $cache5; do
	"$hg" top --by location --format csv "$dump" | columns location blocks bytes retained_bytes |
		sort >"$work/top.$(index_of "$dump")"
done
awk -F '\t' -v OFS='\t' '
	NR == FNR { blocks[$1] = $2; bytes[$1] = $3; retained[$1] = $4; next }
	{
		if ($2 != blocks[$1] || $3 != bytes[$1] || $4 != retained[$1])
			print $1, blocks[$1] + 0, $2, bytes[$1] + 0, $3, retained[$1] + 0, $4
		seen[$1] = 1
	}
	END {
		for (name in blocks) if (!(name in seen))
			print name, blocks[name], 0, bytes[name], 0, retained[name], 0
	}' "$work/top.0" "$work/top.5" | sort >"$work/wanted"
run diff --by location --format csv $cache0 $cache5
columns location blocks_old blocks_new bytes_old bytes_new retained_old retained_new <"$work/out" |
	sort >"$work/got"
check_same 'diff has the numbers of top' "$work/got" "$work/wanted"

# cache.ml keeps 500 more sessions a round in a table that is never emptied.
columns location blocks_old blocks_new bytes_delta <"$work/out" | head -n 13 >"$work/growing"
for place in cache.ml:30:11-50 cache.ml:30:19-50 cache.ml:30:25-50; do
	check_equal "cache: $place grows with the sessions, as the program counted them" \
		"$(awk -F '\t' -v place=$place '$1 == place { print $2, $3 }' "$work/growing")" \
		"$(sed -nE 's/round [05]: sessions=([0-9]+) .*/\1/p' $v01/cache-dump/stdout.txt |
			paste -s -d ' ')"
done
check 'cache: the buckets of the table grow, too' \
	grep -q '^hashtbl.ml:98:26-55	' "$work/growing"
check 'cache: of the program, only lines of the cache grow' awk -F '\t' '
	$1 ~ /^cache[.]ml:/ && $4 > 10000 && $1 !~ /^cache[.]ml:(28|30):/ { print; exit 1 }' \
	"$work/growing"
run diff --by module $cache0 $cache5
check 'cache: diff --by module names Cache' grep -q 'Cache$' "$work/out"
run diff --by location $cache0 $cache5
check 'cache: the text names the lines' grep -q 'cache.ml:30:11-50$' "$work/out"

run trend --by location --format csv $cache0 $cache2 $cache5
check_equal 'trend: sessions over the snapshots' \
	"$(columns index location blocks <"$work/out" |
		awk -F '\t' '$2 == "cache.ml:30:11-50" { print $1 ":" $3 }' | paste -s -d ' ')" \
	'0:500 1:1500 2:3000'

# All six dumps of the run, where they are
if has_more; then
	set --
	for index in 0 1 2 3 4 5; do
		set -- "$@" "$more/v01/cache-dump/heap.dump.8975.$index"
	done
	run trend --by location --format csv "$@"
	sed -nE 's/round ([0-9]): sessions=([0-9]+) .*/\1:\2/p' $v01/cache-dump/stdout.txt >"$work/wanted"
	columns index location blocks <"$work/out" |
		awk -F '\t' '$2 == "cache.ml:30:11-50" { print $1 ":" $3 }' >"$work/got"
	check_same 'trend over all six dumps: sessions as the program counted them' \
		"$work/got" "$work/wanted"
	while [ $# -gt 1 ]; do
		run diff --by location --format csv "$1" "$2"
		check_equal "diff $(basename "$1") $(basename "$2"): 500 sessions more" \
			"$(columns location blocks_old blocks_new <"$work/out" |
				awk -F '\t' '$1 == "cache.ml:30:11-50" { print $3 - $2 }')" 500
		shift
	done
fi

# leaks NAME WANTED SNAPSHOT...: the paths that grow at every step, with lines and at least 95 % of all.
leaks() {
	local name=$1 wanted=$2
	shift 2
	run trend --format csv "$@"
	columns path grows made_at <"$work/out" | awk -F '\t' '$2 { print $1 " | " $3 }' | sort -u >"$work/got"
	printf '%s\n' "$wanted" >"$work/wanted"
	check_same "$name: what leaks, and made where" "$work/got" "$work/wanted"
	check "$name: that is 95 % of the growth" test "$(columns path grows growth_share <"$work/out" |
		awk -F '\t' '$2 { share[$1] = $3 } END { for (path in share) sum += share[path]; print sum + 0 }')" \
		-ge 9500
}
cell='(string, Cache.session) Hashtbl.bucketlist'
table="(string, Cache.session) Hashtbl.t / $cell array / $cell | cache.ml:30;hashtbl.ml:98;hashtbl.ml:112"
leaks 'cache-dump' "$table" $cache0 $cache2 $cache5
run trend --format csv $cache5 $cache2 $cache0
columns index path blocks <"$work/out" | awk -F '\t' '$2 ~ /bucketlist$/ { print $1 ":" $3 }' | head -n 3 |
	paste -s -d ' ' >"$work/got"
check_equal 'trend: a series in another order is sorted by number' "$(cat "$work/got")" '0:500 1:1500 2:3000'
run trend --keep-order $cache5 $cache2 $cache0
check 'trend: --keep-order keeps it, and nothing grows backwards' grep -q '^  nothing$' "$work/out"
run trend $cache5 $cache2 $cache0
check 'trend: says that it has sorted them' grep -q '^Sorted' "$work/out"
if has_more; then
	leaks 'cache-m' "$table" "$more"/v01/cache-m/heap.dump.9018.{0,4,8,12,16,20,24,28}
	leaks 'serve-hup' "$(printf '%s\n' \
		'Serve.state / (int * Serve.job) list | serve.ml:14' \
		'Serve.state / Serve.job Queue.t / Serve.job Queue.cell | serve.ml:10')" \
		"$more"/v01/serve-hup/heap.dump.10092.{0,1,2,3,4}
fi
run trend --by root --format csv --prof $fixtures/leak/chat.prof.zst $fixtures/leak/chat-?.core.zst
check_equal 'trend by root: what retains more at every step' \
	"$(columns name grows <"$work/out" | awk -F '\t' '$2 == 1 { print $1 }' | sort -u)" Chat.rooms

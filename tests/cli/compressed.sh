#!/bin/bash
# Compressed input: what it is is told by its first bytes, how much it may become is limited, and
# real dumps, also sparse ones, are read.
. tests/cli/lib.sh

# letters COUNT: so many bytes that compress to next to nothing.
letters() {
	head -c "$1" /dev/zero | tr '\0' a
}

# small NAME STATUS WORDS ARGUMENT...: refused, with these words, and the folder for temporary files
# has room for 8 MB only, if there can be such a folder.
mkdir "$work/tmp"
export TMPDIR=$work/tmp
is_small=no
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=8m tmpfs "$work/tmp" 2>"$work/said"; then
	is_small=yes
	trap 'umount "$work/tmp"; rm -rf "$work"' EXIT
fi
small() {
	local name=$1 status=$2 words=$3
	shift 3
	refuses "$name" "$status" "$@"
	check "$name: says why" grep -qF -- "$words" "$work/err"
}

# What is no snapshot is refused whatever follows: 40 MB would not fit.
letters 40M | zstd -qc >"$work/text.zst"
small 'no snapshot' 3 'is no heap snapshot of a known format' summary "$work/text.zst"
small 'no profile' 3 'is no profile' \
	top --prof "$work/text.zst" $fixtures/cores/tiny-4.13.1.core.zst
small 'no executable' 3 'is not an ELF file' \
	top --exe "$work/text.zst" $fixtures/cores/tiny-4.13.1.core.zst
head -c 64 $tiny >"$work/head"

# A file that begins as a snapshot does.
{
	cat "$work/head"
	letters 260M
} | zstd -qc >"$work/heap.dump.1.0.zst"
if [ $is_small = yes ]; then
	small 'more than fits the folder' 5 "does not fit when decompressed into $work/tmp" \
		summary "$work/heap.dump.1.0.zst"
	check_equal 'more than fits the folder: nothing is left' "$(ls -A "$work/tmp")" ''
	umount "$work/tmp"
	trap 'rm -rf "$work"' EXIT
else
	skip 'a small folder for temporary files' 'cannot mount one'
fi
small 'more than 256 MB' 5 '--max-decompressed' summary "$work/heap.dump.1.0.zst"
check_equal 'more than 256 MB: nothing is left' "$(ls -A "$work/tmp")" ''
{
	cat "$work/head"
	letters 110M
} | zstd -qc >"$work/heap.dump.2.0.zst"
small 'less than 256 MB are looked at' 3 'offset' summary "$work/heap.dump.2.0.zst"
small '--max-decompressed, less' 5 'the 104857600 bytes of --max-decompressed' \
	summary --max-decompressed 100M "$work/heap.dump.2.0.zst"
small '--max-decompressed, more' 3 'offset' \
	summary --max-decompressed 1G "$work/heap.dump.1.0.zst"
small 'what the header says is believed if it is too much' 5 '--max-decompressed' \
	summary --max-decompressed 1M $fixtures/cores/tiny-4.13.1.core.zst

# A dump as such, and a core with half a gigabyte of zeros, which are not written.
check_run 'a dump' 0 summary $cache5
zstd -dqf $fixtures/cores/tiny-4.13.1.core.zst -o "$work/core"
cp "$work/core" "$work/sparse"
truncate -s 512M "$work/sparse"
zstd -qc "$work/sparse" >"$work/sparse.core.zst"
"$hg" summary --format json "$work/core" >"$work/wanted"
check_run 'a sparse core' 0 summary --format json "$work/sparse.core.zst"
jq .totals "$work/wanted" >"$work/wanted.totals"
jq .totals "$work/out" >"$work/out.totals"
check_same 'a sparse core: its numbers' "$work/out.totals" "$work/wanted.totals"

#!/bin/bash
# --no-host-files: nothing is read but the snapshot and what options name.
. tests/cli/lib.sh

zstd -dqf $fixtures/cores/tiny-4.13.1.core.zst -o "$work/tiny.core"
zstd -dqf $fixtures/cores/tiny-4.13.1.prof.zst -o "$work/exe.prof"
cp $v01/tiny/t1.prof $tiny "$work"
dump=$work/$(basename $tiny)

typed() {
	run summary --format json "$@"
	jq '.totals.typed_blocks // 0' "$work/out"
}

# What blocks say of themselves needs no profile.
mkdir "$work/alone"
cp "$work/tiny.core" "$work/alone"
untyped=$(typed "$work/alone/tiny.core")
check 'a profile beside the core is used' test "$(typed "$work/tiny.core")" -gt "$untyped"
check_equal '--no-host-files: it is not' "$(typed --no-host-files "$work/tiny.core")" "$untyped"
check '--no-host-files: one that is named is' test \
	"$(typed --no-host-files --prof "$work/exe.prof" "$work/tiny.core")" -gt "$untyped"
refuses '--no-host-files: types are required' 3 top --no-host-files --require-types "$work/tiny.core"
check '--no-host-files: says why there are none' grep -q -- '--no-host-files' "$work/err"
run info --format json "$dump"
check 'locations beside the dump are used' grep -q 't1\.prof' "$work/out"
check_run '--no-host-files: they are not' 0 info --format json --no-host-files "$dump"
check '--no-host-files: that is said' grep -q 'looked for with --no-host-files' "$work/out"

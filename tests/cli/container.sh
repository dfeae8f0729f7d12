#!/bin/bash
# Captures of programs in containers: in other namespaces from outside, from a container beside, and
# by the one file that 'make static' builds, copied in.
# Waits: what it captures has to go on in time.
# shellcheck disable=SC2016 # commands are for the shell in the container
. tests/cli/lib.sh

if [ "$(id -u)" -ne 0 ] || ! unshare -m -p -U -r --fork true 2>/dev/null; then
	skip 'containers' 'no namespaces for this user'
	exit 0
fi
if ! command -v ocamlopt >/dev/null; then
	skip 'containers' 'no ocamlopt'
	exit 0
fi

# The root of a container has the program, and what it is linked with, and no more.
root=$work/root
mkdir -p "$root/proc" "$root/tmp" "$root/bin"
cp tests/targets/churn.ml "$work"
(cd "$work" && ocamlopt -g -o churn churn.ml >/dev/null 2>&1)
cp "$work/churn" "$root/bin/contained"
for library in $(ldd "$work/churn" | grep -o '/[^ ]*'); do
	mkdir -p "$root/$(dirname "$library")"
	cp "$library" "$root$library"
done
chmod -R a+rX "$root"
chmod 1777 "$root/tmp"

# contain FLAGS COMMAND: starts the program in namespaces of its own, with $root as its root, and then
# runs a command of bash beside it, as number $program; all of it ends with the command.
contain() {
	# shellcheck disable=SC2086 # words
	unshare $1 --fork --kill-child bash -c '
		mount -t proc proc "$root/proc"
		chroot "$root" /bin/contained 1000000000 >/dev/null 2>&1 &
		program=$!
		until grep -qs "^VmRSS:.*[0-9]\{5\} kB" "$root/proc/$program/status"; do sleep 0.05; done
		eval "$1"
		kill -9 $program' - "$2"
}
export root work

# is_whole NAME FILE: a snapshot of the program, read without any file of this machine.
is_whole() {
	check_run "$1: is read" 0 summary --format json --no-host-files "$2"
	check_equal "$1: what it is of" \
		"$(jq -r '.snapshot.ocaml_version' "$work/out")" "$(ocamlopt -version)"
	check_equal "$1: all sums agree" "$(jq '[.reconciliation[]] | all' "$work/out")" true
	check "$1: more than its globals" test "$(jq '.totals.reachable_blocks' "$work/out")" -gt 10000
}

# From outside, by the number that the process has there.
for flags in '-m -p' '-m -p -U -r' '-m -p -U -r -n -i -u -C'; do
	contain "$flags" 'touch "$root/tmp/ready"; sleep 600' &
	container=$!
	until [ -e "$root/tmp/ready" ]; do sleep 0.05; done
	rm "$root/tmp/ready"
	run capture -p "$(pgrep -n -x contained)" -o "$work/core"
	check_equal "from outside, $flags: exit status" "$status" 0
	is_whole "from outside, $flags" "$work/core"
	pkill -9 -x contained
	pkill -9 -P "$container" || true
	wait "$container" 2>/dev/null || true
done

# With the command in the container, or in one beside it that sees its processes and no file of it.
if [ ! -x "$BUILD/static/heapgraph" ]; then
	skip 'the command in a container' "no $BUILD/static/heapgraph; 'make static' builds it"
	exit 0
fi
cp "$BUILD/static/heapgraph" "$root/bin/"
contain '-m -p -U -r' 'chroot "$root" /bin/heapgraph capture -p $program -o /tmp/core 2>"$work/err"'
check_equal 'copied in: what it says' "$(grep -cE 'method (fork|vmread)' "$work/err")" 1
is_whole 'copied in' "$root/tmp/core"
rm -f "$root/tmp/core"
export beside=$work/beside
mkdir -p "$beside/proc" "$beside/tmp" "$beside/bin"
cp "$BUILD/static/heapgraph" "$beside/bin/"
contain '-m -p -U -r' 'export program; unshare -m bash -c "
	mount -t proc proc \"$beside/proc\"
	chroot \"$beside\" /bin/heapgraph capture -p $program -o /tmp/core 2>\"$work/err\""'
check_equal 'beside: what it says' "$(grep -cE 'method (fork|vmread)' "$work/err")" 1
is_whole 'beside' "$beside/tmp/core"

# Rights: the same user may, another one may not, root of the container may.
contain '-m -p' '
	export OCAMLRUNPARAM=
	kill -9 $program
	chroot --userspec 1000:1000 "$root" /bin/contained 1000000000 >/dev/null 2>&1 &
	program=$!
	until grep -qs "^VmRSS:.*[0-9]\{5\} kB" "$root/proc/$program/status"; do sleep 0.05; done
	for user in 1000 1001; do
		chroot --userspec $user:$user "$root" /bin/heapgraph capture -p $program \
			-o /tmp/core.$user 2>"$work/err.$user"
		echo "$user $?"
	done >"$work/rights"'
check_equal 'rights: exit status of the same user and of another' "$(tr '\n' ' ' <"$work/rights")" \
	'1000 0 1001 3 '
check 'rights: another user is told what it takes' \
	grep -q 'be the same user or root, or have CAP_SYS_PTRACE$' "$work/err.1001"
is_whole 'rights: the same user' "$root/tmp/core.1000"

# Runs programs of tests as many at a time as there are processors (JOBS=1: one after the other), and
# shows what they say in a stable order.  For scripts that say, in functions,
#
#     run_by_name NAME    how one is run: with run_one NAME COMMAND...
#     show_one NAME       what is shown of it, from $work/NAME.output, .status and .times
#
# and then call run_all.
# shellcheck shell=bash
jobs=${JOBS:-$(nproc)}
# What make says to its children is not meant for those that tests start.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

# A python3 that is a script looking for the right one (pyenv) takes a third of a second to find it,
# thousands of times: it is asked once.
if [ "$(head -c 2 "$(command -v python3)")" = '#!' ]; then
	PATH=$(python3 -c 'import os, sys; print(os.path.dirname(sys.executable))'):$PATH
fi

work=$(mktemp -d)
declare -A running=()

# Only what was started here is ended.
clean_up() {
	local process
	for process in "${!running[@]}"; do
		kill "$process" 2>/dev/null || true
	done
	rm -rf "$work"
}
trap clean_up EXIT

# run_one NAME COMMAND...: with a TMPDIR of its own; .times has seconds, of the user, of the system.
run_one() {
	local name=$1 status=0
	shift
	mkdir "$work/$name.tmp"
	{
		TIMEFORMAT='%R %U %S'
		time TMPDIR=$work/$name.tmp "$@" >"$work/$name.output" 2>&1 </dev/null || status=$?
	} 2>"$work/$name.times"
	rm -rf "$work/$name.tmp"
	echo "$status" >"$work/$name.status"
}

# show_finished NAME...: those at the beginning of this list that have not been shown.
show_finished() {
	local name
	while [ "$shown" -lt $# ]; do
		name=${*:shown+1:1}
		[ -e "$work/$name.status" ] || return 0
		shown=$((shown + 1))
		show_one "$name"
	done
}

# Until one of those that run has ended.
wait_for_one() {
	local ended
	wait -n -p ended || true
	unset "running[$ended]"
}

# start_one NAME
start_one() {
	run_by_name "$1" &
	running[$!]=$1
}

# run_all JOBS FIRST WAITING NAME...: begins with those in the list of words FIRST, which take
# longest, so that none is left over at the end.  Those in the list WAITING, which wait more than they
# work, run one by one beside JOBS others (after them if that is one).
run_all() {
	local most=$1 first=" $2 " waiting=" $3 " shown=0 name waiter='' order=() rest=() waiters=()
	shift 3
	for name; do
		case $waiting in *" $name "*)
			waiters+=("$name")
			continue
			;;
		esac
		case $first in *" $name "*) order+=("$name") ;; *) rest+=("$name") ;; esac
	done
	order+=("${rest[@]}")
	if [ "$most" -eq 1 ]; then
		order+=("${waiters[@]}")
		waiters=()
	fi
	while [ $((${#order[@]} + ${#waiters[@]} + ${#running[@]})) -gt 0 ]; do
		if [ -z "$waiter" ] && [ ${#waiters[@]} -gt 0 ]; then
			start_one "${waiters[0]}"
			waiter=$!
			waiters=("${waiters[@]:1}")
		fi
		while [ ${#order[@]} -gt 0 ] && [ $((${#running[@]} - (${#waiter} > 0))) -lt "$most" ]; do
			start_one "${order[0]}"
			order=("${order[@]:1}")
		done
		wait_for_one
		[ -n "$waiter" ] && [ -n "${running[$waiter]-}" ] || waiter=
		show_finished "$@"
	done
}

#!/bin/bash
# Hostile traces and series, one for each message of their readers: the exact line on stderr and the
# exit status, as tests/golden-bad/traces.tsv says (make_traces.py there makes it and the files).
. tests/cli/lib.sh

golden=tests/golden-bad

# judge_trace NAME STATUS LINE: of the last run; an empty line for nothing.
judge_trace() {
	[ -z "$3" ] && : >"$work/wanted" || printf '%s\n' "$3" >"$work/wanted"
	if [ "$status" -ne "$2" ]; then
		not_ok "$1" "exit $status, not $2: $(gist "$work/err")"
	elif { [ "$2" -eq 0 ] || [ "$2" -eq 4 ]; } && [ ! -s "$work/out" ]; then
		not_ok "$1" "nothing on stdout"
	elif [ "$2" -ne 0 ] && [ "$2" -ne 4 ] && [ -s "$work/out" ]; then
		not_ok "$1" "on stdout: $(gist "$work/out")"
	elif ! cmp -s "$work/wanted" "$work/err"; then
		not_ok "$1" "stderr is '$(gist "$work/err")', not '$3'"
	else
		ok "$1"
	fi
}

while IFS=$'\t' read -r file command wanted message; do
	case $file in \#*) continue ;; esac
	line="heapgraph: $golden/traces/$file: $message"
	[ "$message" != - ] || line=''
	# shellcheck disable=SC2086 # words
	run $command "$golden/traces/$file"
	judge_trace "$file: $command" "$wanted" "$line"
done <"$golden/traces.tsv"

# Every message of the readers is met, or cannot be.
check 'every message of the readers has a file' python3 $golden/messages.py

# What a trace makes of a few bytes is charged like all else.
(cd $golden && python3 -c 'import sys, make_traces
sys.stdout.buffer.write(make_traces.many_calls())') >"$work/many.ctf"
for verb in functions tree callers hotspots hot-paths; do
	refuses "$verb: too many calls" 5 trace "$verb" --max-memory 32M "$work/many.ctf"
	check "$verb: it is said" grep -qE \
		"phase 'calls of the trace' needs [0-9]+ bytes, more than the memory limit of 33554432" \
		"$work/err"
done
run trace functions --max-memory 1G --format csv "$work/many.ctf"
check_equal 'with room for them they are counted' \
	"$(columns samples <"$work/out" | sort -n | tail -n 1)" 16257

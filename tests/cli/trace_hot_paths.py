#!/usr/bin/env python3
"""Hot paths by brute force: reads "frame;frame TAB samples" lines, prints "path TAB samples"."""
import collections
import sys

SHARE = 200
stacks = []
for text in sys.stdin:
    path, samples = text.rstrip("\n").split("\t")
    stacks.append((path.split(";") if path else [], int(samples)))
total = sum(samples for _, samples in stacks)
weights = collections.Counter()
for frames, samples in stacks:
    for i in range(len(frames)):
        for j in range(i + 1, len(frames) + 1):
            weights[tuple(frames[i:j])] += samples
extended = set()
for run, samples in weights.items():
    for part in (run[1:], run[:-1]):
        if part and weights[part] == samples:
            extended.add(part)
whole = [run for run, samples in weights.items() if samples * SHARE >= total and run not in extended]
taken = []


def holds(run, other):
    return any(run[i:i + len(other)] == other for i in range(len(run) - len(other) + 1))


for run in sorted(whole, key=lambda run: (-weights[run], -len(run))):
    if not any(holds(run, other) for other in taken):
        taken.append(run)
for run in taken:
    print(" / ".join(run), weights[run], sep="\t")

#!/usr/bin/python3
"""retention.py BLOCKS.csv TREE.csv - is a retention tree that of its blocks?

BLOCKS is what 'tree --blocks' writes, TREE what 'tree' does of the same snapshot.  Merges the blocks by type along their dominators, as the format says, and compares paths,
blocks, bytes and retained bytes.  Blocks without a type, whose class is not in BLOCKS, are left out
of the comparison of names: all below one parent are one.  Prints one line for each that is wrong, then how many
paths there are.
"""
import csv
import re
import sys

csv.field_size_limit(1 << 30)


def rows(name):
    with open(name, encoding="utf-8", errors="surrogateescape") as file:
        yield from csv.DictReader(file)


def unknown(name):
    """The names that classes without a type have."""
    return bool(re.match(r"(tag \d+, (more than )?\d+ words?( @ .*)?|closure( of .*)?)$", name))


def merged(blocks):
    """path -> [blocks, bytes, retained]; the paths are tuples of names."""
    totals = {(): [0, 0, 0]}
    stack = []
    for row in blocks:
        depth = int(row["depth"])
        if row["address"] == "(unreachable)":
            continue
        if depth == 0:
            stack = [()]
            continue
        del stack[depth:]
        above = stack[-1]
        block = row["address"].startswith("0x")
        if block:
            name = row["type"] or "?"
        elif row["address"].startswith("global "):
            name = row["address"]
        else:
            name = re.sub(r"\[\d+\]$", "", row["address"])
            if name.startswith("stack "):
                name = re.sub(r" \((main|thread)[^)]*\)$", "", name)
        path = above + ((block, name),)
        for i, step in enumerate(above):
            if step == path[-1]:
                path = above[: i + 1]
        totals.setdefault(path, [0, 0, 0])
        totals[path][0] += block
        totals[path][1] += int(row["bytes"])
        stack.append(path)
    for path in list(totals):
        own = totals[path][1]
        for i in range(len(path) + 1):
            totals[path[:i]][2] += own
    return totals


def told(tree):
    """The same as a tree says; its classes without a type become one again."""
    totals = {(): [0, 0, 0]}
    stack = []
    for row in tree:
        depth = int(row["depth"])
        name = row["path"]
        if depth == 0:
            stack = [((), name)]
            totals[()] = [int(row["blocks"]), int(row["bytes"]), 0]
            continue
        del stack[depth:]
        above, prefix = stack[-1]
        own = name if depth == 1 else name[len(prefix) + 3 :]
        if depth > 1 and not name.startswith(prefix + " / "):
            print(f"'{name}' does not stand below '{prefix}'")
        if own.startswith('"') and own.endswith('"') and " / " in own:
            own = own[1:-1]
        root = int(row["blocks"]) == 0
        step = (not root, "?" if not root and unknown(own) else own)
        path = above + (step,)
        for i, before in enumerate(above):
            if before == step:
                path = above[: i + 1]
        totals.setdefault(path, [0, 0, 0])
        totals[path][0] += int(row["blocks"])
        totals[path][1] += int(row["bytes"])
        stack.append((path, name))
    for path in list(totals):
        own = totals[path][1]
        for i in range(len(path) + 1):
            totals[path[:i]][2] += own
    return totals


wanted, got = merged(rows(sys.argv[1])), told(rows(sys.argv[2]))
for key in sorted(set(wanted) | set(got)):
    if wanted.get(key) != got.get(key):
        print(f"{' / '.join(n for _, n in key)}: {got.get(key)}, wanted {wanted.get(key)}")
print(len(wanted))

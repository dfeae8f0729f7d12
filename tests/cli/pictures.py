#!/usr/bin/env python3
"""Compares the picture of the retention tree, as Graphviz reads it, with the tree itself.

    pictures.py PICTURE.json TREE.json MIN_PERCENT MAX_NODES

PICTURE.json is what `dot -Tjson` makes of `heapgraph dot`, TREE.json `heapgraph tree --format json`.
Prints what is wrong, and ends with 1 if anything is.
"""

import collections
import json
import re
import sys

picture = json.load(open(sys.argv[1], encoding="utf-8", errors="replace"))
tree = json.load(open(sys.argv[2], encoding="utf-8", errors="replace"))
least, most = float(sys.argv[3]), int(sys.argv[4])
rows = tree["rows"]
wrong = []


def expect(true, *what):
    if not true:
        wrong.append(" ".join(str(word) for word in what))


def weight(row):
    return row["retained_bytes"] + row["retained_offheap_bytes"]


def size(byte_count):
    """As reports spell it: 1023 B, 1.0 KB, 12.3 MB."""
    if byte_count < 1024:
        return "%d B" % byte_count
    units = iter(["KB", "MB", "GB", "TB"])
    unit, number = next(units), byte_count / 1024
    while number >= 1024 - 0.05:
        unit, number = next(units), number / 1024
    return "{:,.1f} {}".format(int(number * 10 + 0.5) / 10, unit)


parents, stack = [0], [0]
for number, row in enumerate(rows[1:], 1):
    del stack[row["depth"] :]
    parents.append(stack[-1])
    stack.append(number)

# What has to be there: all that is large enough, up to the number of boxes.
objects = picture.get("objects", [])
names = {one["_gvid"]: one["name"] for one in objects}
labels = {one["name"]: one["label"].replace("\\n", "\n").split("\n") for one in objects}
drawn = {int(name[3:]) for name in labels if re.fullmatch("row[0-9]+", name)}
large = [n for n in range(1, len(rows)) if weight(rows[n]) >= int(least * weight(rows[0]) / 100)]
large = [n for n in large if weight(rows[n])]
is_root = [number > 0 and row["blocks"] == 0 for number, row in enumerate(rows)]
inside = {}
for number in large:
    above = parents[number]
    only = rows[above]["children"] == 1 and rows[number]["blocks"] == 1
    if number not in drawn and above in drawn and is_root[above] and only:
        inside[number] = above
shown = drawn | set(inside)
if len(large) <= most:
    expect(shown == set(large), "boxes", sorted(shown), "for the rows", large)
expect(len(drawn) <= most, len(drawn), "boxes")
expect(all(n == 0 or parents[n] == 0 or parents[n] in shown for n in shown), "a box without holder")

box = {number: inside.get(number, number) for number in shown}
nearest = []
for number in range(len(rows)):
    nearest.append(box.get(number, nearest[parents[number]] if number else None))

for number in drawn:
    row, text = rows[number], "\n".join(labels["row%d" % number])
    share = 100 * weight(row) / weight(rows[0])
    expect(size(weight(row)) + "   " in text, "row", number, "retains", size(weight(row)), ":", text)
    percent = re.search(r"([0-9.]+) %", text)
    little = "<0.1 %" in text and 0 < share < 0.1
    expect(percent and (little or abs(float(percent[1]) - share) < 0.0501), "row", number, "is", share, "%:", text)
    count = "{:,} block{}".format(row["blocks"], "" if row["blocks"] == 1 else "s")
    expect(row["blocks"] == 0 or count in text.split("\n"), "row", number, "has", count, ":", text)

# Arrows, and what was left out.
arrows, dashed = set(), {}
for edge in picture.get("edges", []):
    ends = names[edge["tail"]], names[edge["head"]]
    if edge.get("style") == "dashed":
        dashed[ends] = int(edge["label"].replace(",", ""))
    elif edge.get("style") != "invis":
        arrows.add(ends)
holding = {
    ("row%d" % box[parents[n]], "row%d" % n) for n in drawn if parents[n] != 0
}
notes = {ends for ends in arrows if ends[1].startswith("more")}
expect(arrows - notes == holding, "arrows", arrows - notes, "for", holding)

hidden = collections.defaultdict(lambda: [0, 0])
for number in range(1, len(rows)):
    if number not in shown and (parents[number] == 0 or parents[number] in shown):
        entry = hidden[box.get(parents[number], 0)]
        entry[0] += 1
        entry[1] += weight(rows[number])
smallest = min((weight(rows[n]) for n in drawn), default=0)
for number, (count, byte_count) in hidden.items():
    name = "more%d" % number
    if byte_count >= smallest and byte_count:
        text = " ".join(labels.get(name, []))
        expect(text.startswith("{:,} more".format(count)) and text.endswith(size(byte_count)),
               name, "is", count, size(byte_count), "and says", text)
    else:
        expect(name not in labels, name, "is too small to be said")

pointers = collections.Counter()
by_path = {row["path"]: number for number, row in enumerate(rows)}
for edge in tree["cross_edges"]:
    start, end = nearest[by_path[edge["from"]]], box.get(by_path[edge["to"]])
    pointers["row%s" % start, "row%s" % end] += edge["pointers"]
for ends, count in dashed.items():
    expect(pointers[ends] == count, ends, "are", pointers[ends], "pointers, not", count)


def is_above(upper, lower):
    while lower and lower != upper:
        lower = box.get(parents[lower], 0)
    return lower == upper


# The three largest to each box, from outside its path, that are not few for its blocks.
wanted = {}
for end in drawn:
    sources = [
        (-count, int(ends[0][3:]))
        for ends, count in pointers.items()
        if ends[1] == "row%d" % end and ends[0] != "rowNone"
    ]
    sources = sorted(
        one for one in sources if not is_above(one[1], end) and not is_above(end, one[1])
    )
    if sources:
        content = [n for n in inside if inside[n] == end] or [end]
        least_pointers = max(-sources[0][0], rows[content[0]]["blocks"]) // 20
        for count, start in sources[:3]:
            if -count >= least_pointers:
                wanted["row%d" % start, "row%d" % end] = -count
expect(dashed == wanted, "dashed arrows", dashed, "for", wanted)

print("\n".join(wrong[:5]))
print(len(drawn), "boxes,", len(dashed), "dashed arrows")
sys.exit(bool(wrong))

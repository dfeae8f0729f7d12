#!/usr/bin/env python3
"""series_chart.py SVG TREND COLUMN: the chart of trace trend -o x.svg shows what trace trend --format json says: each area
is its place in every snapshot by that column, all together with what has no place is the sum, and every event has a
line."""
import json
import sys

from area_chart import HEIGHT, LEFT, NEAR, REST, RIGHT, SPACE, areas_of, bottom, end, fail, points, root, stack

told = json.load(open(sys.argv[2], encoding="utf-8"))
column = sys.argv[3]
count = len(told["snapshots"])
tolerance = NEAR / HEIGHT * end + 1

rows = {}
for row in told["rows"]:
    name = (row["location"] or "(no place known)") + (" (in C)" if row["in_c"] else "")
    rows.setdefault(name, [0] * count)[row["index"]] += row[column]
if column == "live_bytes":
    rows["(without a place of allocation)"] = [s.get("unknown_bytes") or 0 for s in told["snapshots"]]
sums = [sum(amounts[i] for amounts in rows.values()) for i in range(count)]
if count > 1 and not max(sums):
    fail("nothing to compare")

areas, names = areas_of(count)
shown = set()
for (heights, upper), (fill, _), name in zip(stack(areas, count), areas, names):
    if fill == REST:
        continue
    shown.add(name.text)
    for i, height in enumerate(heights):
        if abs(height - rows[name.text][i]) > tolerance:
            fail(f"{name.text} in snapshot {i}: {height}, not {rows[name.text][i]}")
for i, (_, y) in enumerate(upper):
    if abs((bottom - y) / HEIGHT * end - sums[i]) > tolerance:
        fail(f"snapshot {i} comes to {(bottom - y) / HEIGHT * end}, not {sums[i]}")
# What is left to the rest was never more than what has an area.
least = min(max(rows[name]) for name in shown if name in rows and not name.startswith("(without"))
if any(max(amounts) > least for name, amounts in rows.items() if name not in shown and not name.startswith("(without")):
    fail("a larger place is in the rest")
lines = [points(p) for p in root.iter(SPACE + "polyline")]
marks = [line for line in lines if len(line) == 2 and line[0][0] == line[1][0] and LEFT <= line[0][0] <= RIGHT and
         abs(line[0][1] - line[1][1]) > HEIGHT]
if len(marks) != len(told["events"]):
    fail(f"{len(marks)} lines of {len(told['events'])} events")
print(f"{len(areas)} areas, {count} snapshots")

#!/usr/bin/env python3
"""trace_chart.py SVG HP LIVE ALL: the chart of trace live -o x.svg shows what the others say at the same points: each
area what trace hp has of its place, the sum what trace live has (LIVE), a broken line that of the whole trace (ALL, if
it is another file), and the peak where it is."""
import json
import sys

from area_chart import HEIGHT, LEFT, NEAR, REST, RIGHT, SPACE, areas_of, bottom, end, fail, points, root, stack, texts

samples, now = [], None
for line in open(sys.argv[2], encoding="utf-8"):
    words = line.split()
    if words[0] == "BEGIN_SAMPLE":
        now = {}
        samples.append(now)
    elif words[0] != "END_SAMPLE" and now is not None:
        now[words[0]] = int(words[1])
live, everything = (json.load(open(name, encoding="utf-8")) for name in sys.argv[3:5])
count = len(samples)
if count != len(live["rows"]) + 1:
    fail(f"{count} samples of hp, {len(live['rows'])} rows of live")
NAMES = {"all other places": "(others)", "(not told by the backtrace)": "(not_told_by_the_backtrace)"}
tolerance = NEAR / HEIGHT * end + 1

areas, names = areas_of(count)
for (heights, upper), (fill, _), name in zip(stack(areas, count), areas, names):
    shown = NAMES.get(name.text, name.text.replace(" ", "_"))
    if (fill == REST) != (shown == "(others)"):
        fail(f"{name.text} has the colour {fill}")
    for i, height in enumerate(heights):
        if abs(height - samples[i].get(shown, 0)) > tolerance:
            fail(f"{name.text} at point {i}: {height}, not {samples[i].get(shown, 0)}")
above = [y for _, y in upper]


def check_line(what, places, rows):
    for i, (x, y) in enumerate(places):
        row = rows[i - 1] if i else {"time_us": 0, "live_bytes": 0}
        wanted = LEFT + row["time_us"] / rows[-1]["time_us"] * (RIGHT - LEFT)
        # A sum of numbers that are rounded.
        if abs(x - wanted) > NEAR or abs((bottom - y) / HEIGHT * end - row["live_bytes"]) > tolerance + len(areas):
            fail(f"{what} at point {i}: {x},{y}, not {row}")


check_line("the sum", [(corner[0], corner[1]) for corner in upper], live["rows"])
lines = [points(p) for p in root.iter(SPACE + "polyline")]
broken = [line for line in lines if len(line) == count]
if sys.argv[3] != sys.argv[4]:
    check_line("the whole trace", broken[0], everything["rows"])
elif broken:
    fail("a broken line without a filter")
marks = [float(t.get("x")) for t in texts if t.text == "peak"]
wanted = LEFT + live["peak_us"] / live["rows"][-1]["time_us"] * (RIGHT - LEFT)
if len(marks) != 1 or abs(marks[0] - wanted) > NEAR:
    fail(f"the peak at {marks}, not {wanted}")
print(f"{len(areas)} areas, {count} points")

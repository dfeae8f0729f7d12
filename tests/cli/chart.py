#!/usr/bin/env python3
"""chart.py SVG JSON: the chart of trend -o x.svg shows what trend --format json says of the same series: every
area is as high at every snapshot as its row, all of them together as what the snapshots have, none hangs below
another, snapshots stand where their times are, what grows is bold; and no text is small, cut off or covered."""
import json
import re
import sys
import xml.etree.ElementTree

SPACE = "{http://www.w3.org/2000/svg}"
LEFT, RIGHT, HEIGHT = 82, 916, 330
REST = "#c3c8cc"
UNITS = {"B": 0, "KB": 1, "MB": 2, "GB": 3}
# Half of what coordinates are rounded to, at both edges.
NEAR = 0.021

root = xml.etree.ElementTree.parse(sys.argv[1]).getroot()
told = json.load(open(sys.argv[2], encoding="utf-8"))
moments = told["snapshots"]
by_path, by_root = told["by"] == "path", told["by"] == "root"


def points(element):
    return [tuple(float(n) for n in p.split(",")) for p in element.get("points").split()]


def fail(what):
    sys.exit(f"{sys.argv[1]}: {what}")


def width_of(text):
    letters = sum(2 if ord(c) > 0x2e80 else 1 for c in text.text)
    return float(text.get("font-size")) * letters * (0.602 if "Courier" in text.get("font-family") else 0.53)


texts = list(root.iter(SPACE + "text"))
canvas = [float(n) for n in root.get("viewBox").split()]

# Text: 11 pixels are 8.25 points.
boxes = []
for t in texts:
    size, x, y, width = float(t.get("font-size")), float(t.get("x")), float(t.get("y")), width_of(t)
    x -= {"start": 0, "middle": width / 2, "end": width}[t.get("text-anchor")]
    if size < 8.25:
        fail(f"small text: {t.text}")
    if x < 0 or x + width > canvas[2] or y - size < -canvas[3] or y > 0:
        fail(f"out of the picture: {t.text}")
    boxes.append((x, y - 0.75 * size, x + width, y + 0.2 * size, t.text))
for i, a in enumerate(boxes):
    for b in boxes[:i]:
        if a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]:
            fail(f"{a[4]!r} covers {b[4]!r}")

# Scale: the labels left of the axis, of which the last is its end.
ticks = [t.text for t in texts if t.get("text-anchor") == "end" and float(t.get("x")) == LEFT - 8]
number, unit = ticks[-1].split()
end = float(number.replace(",", "")) * 1024 ** UNITS[unit]
lines = [points(p) for p in root.iter(SPACE + "polyline")]
levels = [p[0][1] for p in lines if len(p) == 2 and p[0][0] == LEFT and p[1][0] == RIGHT]
if ticks[0] != "0" or len(levels) != len(ticks) or abs(levels[0] - levels[-1] - HEIGHT) > NEAR:
    fail(f"marks {ticks} at {levels}")
steps = [b - a for a, b in zip(levels, levels[1:])]
if max(steps) - min(steps) > NEAR:
    fail(f"marks are not as far apart: {steps}")
bottom = levels[0]

# Areas, from the lowest; their names, from the highest.
areas = [(p.get("fill"), points(p)[:-1]) for p in root.iter(SPACE + "polygon") if p.get("fill") != "white"]
areas = [a for a in areas if len(a[1]) == 4 * len(moments) and a[1][0][0] >= LEFT]
names = [t for t in texts if float(t.get("x")) == 58 and t.get("font-size") == "9.75" and
         "Courier" in t.get("font-family")]
names.reverse()
if len(names) != len(areas) or not areas:
    fail(f"{len(areas)} areas, {len(names)} names")
if len({fill for fill, _ in areas}) != len(areas):
    fail("two areas of one colour")


def name_of(row):
    if by_path:
        return row["path"]
    if by_root:
        return f"{row['kind']} {row['name']}"
    if told["by"] == "tag":
        return f"tag {row['tag']}"
    name = " ".join(row[key] for key in told["by"].split(",") if row[key])
    return name or "(unknown)"


def amount_of(row):
    """In the weight that is the default."""
    if by_path or by_root:
        return row["retained_bytes"] + row["retained_offheap_bytes"]
    return row["bytes"] + row["offheap_bytes"]


def memprof_of(position):
    """Records of Gc.Memprof itself are no part of what paths come to."""
    records = re.compile(r"(memprof [^/]*|(.* / )?\[Gc\.Memprof\])$")
    return sum(amount_of(rows[n][position]) for n in rows if by_path and position in rows[n] and records.match(n) and
               not any(records.match(n[:m.start()]) for m in re.finditer(" / ", n)))


def total_of(moment):
    if by_path or by_root:
        return moment["reachable_bytes"] + moment["offheap_bytes"] - memprof_of(moment["position"])
    if told["by"] == "function":
        return sum(amount_of(r) for r in told["rows"] if r["index"] == moment["position"])
    return moment["bytes"] + moment["offheap_bytes"]


rows = {}
for row in told["rows"]:
    rows.setdefault(name_of(row), {})[row["index"]] = row


def find(shown):
    start, dots, rest = shown.partition("...")
    found = [n for n in rows if n == shown] or [n for n in rows if dots and n.startswith(start) and n.endswith(rest)]
    # Of several with these ends the heights tell.
    return found


below = [bottom] * len(moments)
chosen = []
for (fill, corners), name in zip(areas, names):
    upper = corners[0:2 * len(moments):2]
    lower = corners[2 * len(moments):][::-1][0::2]
    for i, (_, y) in enumerate(lower):
        if abs(y - below[i]) > NEAR:
            fail(f"{name.text} does not stand on what is below it in snapshot {i}")
    heights = [(a[1] - b[1]) / -HEIGHT * end for a, b in zip(upper, lower)]
    below = [y for _, y in upper]
    if fill == REST:
        continue
    near = [n for n in find(name.text) if all(
        abs(heights[i] - (amount_of(rows[n][i]) if i in rows[n] else 0)) <= NEAR / HEIGHT * end
        for i in range(len(moments)))]
    if not near:
        fail(f"{name.text}: heights {heights}, but {find(name.text)}")
    grows = any(row["grows"] for row in rows[near[0]].values())
    if grows != (name.get("font-weight") == "bold"):
        fail(f"{name.text}: {'grows' if grows else 'does not grow'}")
    chosen.append(near[0])
for i, moment in enumerate(moments):
    if abs(bottom - below[i] - total_of(moment) / end * HEIGHT) > NEAR:
        fail(f"snapshot {i}: the areas come to {(bottom - below[i]) / HEIGHT * end}, not {total_of(moment)}")
if by_path and any(a != b and a.startswith(b + " / ") for a in chosen for b in chosen):
    fail(f"an area is part of another: {chosen}")
# What suspended fibers retain is a part of what holds them.
grown = {name for name in rows if "suspended fiber" not in name and any(row["grows"] for row in rows[name].values())}
if len(grown) <= 10 and not by_path and not grown <= set(chosen):
    fail(f"{grown - set(chosen)} grow and are no areas")

# Snapshots.
dots = [(float(e.get("cx")), float(e.get("cy"))) for e in root.iter(SPACE + "ellipse")]
if len(moments) > 1:
    if len(dots) != len(moments):
        fail(f"{len(dots)} dots")
    times = [m.get("time_ns") for m in moments]
    if None in times or times != sorted(times) or times[0] == times[-1]:
        times = list(range(len(moments)))
    for i, (x, y) in enumerate(dots):
        wanted = LEFT + (times[i] - times[0]) / (times[-1] - times[0]) * (RIGHT - LEFT)
        if abs(x - wanted) > NEAR or abs(y - below[i]) > NEAR:
            fail(f"snapshot {i} at {x},{y}, not {wanted},{below[i]}")
print(f"{len(chosen)} areas{', the rest' if REST in [f for f, _ in areas] else ''}, {len(moments)} snapshots")

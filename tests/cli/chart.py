#!/usr/bin/env python3
"""chart.py SVG JSON: the chart of trend -o x.svg shows what trend --format json says of the same series: every
area is as high at every snapshot as its row, all of them together as what the snapshots have, none hangs below
another, snapshots stand where their times are, what grows is bold; and no text is small, cut off or covered."""
import json
import re
import sys

from area_chart import HEIGHT, LEFT, NEAR, REST, RIGHT, SPACE, areas_of, bottom, end, fail, root, stack

told = json.load(open(sys.argv[2], encoding="utf-8"))
moments = told["snapshots"]
by_path, by_root = told["by"] == "path", told["by"] == "root"
areas, names = areas_of(len(moments))


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
for (heights, upper), (fill, _), name in zip(stack(areas, len(moments)), areas, names):
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

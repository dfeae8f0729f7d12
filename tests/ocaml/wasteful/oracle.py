#!/usr/bin/env python3
"""oracle.py CORE OBJECTS.csv EDGES.csv WASTE.csv: are the sections strings, bytes, values and unreachable
what the memory in the core says?  It reads the words by itself and takes from 'objects' and 'edges' only
which blocks there are, their types and where their pointers lead.  By rounds over all blocks: those
are equal that were not told apart by what they point to, which knows nothing of the order in which
'waste' looks at them.  Prints what is wrong."""
import csv
import re
import struct
import sys
from collections import Counter, defaultdict

IMMUTABLE = re.compile(
    r"(string|float|int32|int64|nativeint|.* (list|option)|Wasteful\.(pair|point|shape|wrapped|ring|holder)"
    r"|.* \* .*)$")
core = open(sys.argv[1], "rb").read()
offset, = struct.unpack_from("<Q", core, 32)
size, count = struct.unpack_from("<HH", core, 54)
segments = []
for i in range(count):
    kind, _, at, address, _, length = struct.unpack_from("<IIQQQQ", core, offset + i * size)
    if kind == 1 and length:
        segments.append((address, address + length, at))


def words(address, number):
    for start, end, at in segments:
        if start <= address < end:
            return core[at + address - start : at + address - start + 8 * number]
    raise SystemExit("not in the core: %x" % address)


blocks = []
for o in csv.DictReader(open(sys.argv[2], newline="")):
    address, number, tag = int(o["address"], 16), int(o["words"]), int(o["tag"])
    blocks.append((address, number, tag, o["type"], o["reachable"] == "1", o["segment"] == "static",
                   o["confidence"] in ("exact", "inferred")))
leads = defaultdict(dict)
for e in csv.DictReader(open(sys.argv[3], newline="")):
    if e["kind"] == "field":
        leads[int(e["from_node"])][int(e["field"])] = int(e["to_node"])

substance = {}
contents = Counter()
for n, (address, number, tag, kind, reachable, static, sure) in enumerate(blocks):
    if not reachable:
        continue
    raw = words(address, number)
    if tag == 252:
        raw = raw[: len(raw) - 1 - raw[-1]]
    if tag == 255 and kind == "int32":
        raw = raw[:12]
    if tag == 252 or (sure and IMMUTABLE.match(kind) and tag not in (244, 246, 250)):
        substance[n] = raw if tag >= 252 else [raw[8 * i : 8 * i + 8] for i in range(number)]

# Those in a cycle are equal to none: take away what nothing is left to wait for, until nothing goes.
inner = {n: {t for f, t in leads[n].items() if t in substance} for n in substance if blocks[n][2] < 252}
waiting = {n: set(to) for n, to in inner.items()}
holders = defaultdict(set)
for n, to in inner.items():
    for t in to:
        holders[t].add(n)
ready = [n for n in substance if not waiting.get(n)]
done = set(ready)
while ready:
    t = ready.pop()
    for n in holders[t]:
        waiting[n].discard(t)
        if not waiting[n] and n not in done:
            done.add(n)
            ready.append(n)
cyclic = set(substance) - done


def on_cycle(n):
    seen, stack = set(), list(inner.get(n, ()))
    while stack:
        t = stack.pop()
        if t == n:
            return True
        if t not in seen:
            seen.add(t)
            stack.extend(inner.get(t, ()))
    return False


cyclic = {n for n in cyclic if on_cycle(n)}
values = [n for n in substance if n not in cyclic]

# Rounds: at first equal if of one type and size, then as long as their words are.
group = {n: (blocks[n][3], blocks[n][2], blocks[n][1]) for n in values}
number = 0
while True:
    names, fresh = {}, {}
    for n in values:
        s = substance[n]
        if blocks[n][2] < 252:
            s = tuple(("g", group[leads[n][i]]) if i in leads[n] and leads[n][i] in group
                      and blocks[leads[n][i]][3] != "bytes" else w for i, w in enumerate(s))
        fresh[n] = names.setdefault((group[n] if number == 0 else None, blocks[n][3], blocks[n][2],
                                     blocks[n][1], s), len(names))
    if len(names) == number:
        break
    number, group = len(names), fresh
classes = defaultdict(list)
for n in values:
    classes[group[n]].append(n)
wanted = {"strings": Counter(), "bytes": Counter(), "values": Counter(), "unreachable": Counter()}
for members in classes.values():
    address, number, tag, kind = blocks[members[0]][:4]
    heap = [n for n in members if not blocks[n][5]]
    saved = len(heap) - (len(heap) == len(members))
    if saved > 0 and tag == 252:
        wanted["bytes" if kind == "bytes" else "strings"][
            (kind, len(members), 8 * (number + 1) * len(members), 8 * (number + 1) * saved)] += 1
    if saved > 0 and kind != "bytes":
        wanted["values"][kind] += saved * 8 * (number + 1)
for address, number, tag, kind, reachable, static, sure in blocks:
    if not reachable:
        wanted["unreachable"][kind] += 8 * (number + 1)

said = {section: Counter() for section in wanted}
for row in csv.DictReader(open(sys.argv[4], newline="")):
    if row["section"] in ("strings", "bytes"):
        said[row["section"]][
            (row["type"], int(row["blocks"]), int(row["bytes"]), int(row["saved_bytes"]))] += 1
    elif row["section"] in said:
        said[row["section"]][row["type"]] += int(row["saved_bytes"])
wrong = 0
for section in wanted:
    if section == "values":
        # Types that this program does not know to be immutable may be, such as those of libraries.
        said[section] = Counter({k: v for k, v in said[section].items() if IMMUTABLE.match(k)})
    for key in sorted(set(wanted[section]) | set(said[section]), key=str):
        if wanted[section][key] != said[section][key]:
            wrong += 1
            print(section, key, "wanted", wanted[section][key], "got", said[section][key])
if not cyclic:
    wrong += 1
    print("there is no cycle")
sys.exit(wrong != 0)

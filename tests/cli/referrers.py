#!/usr/bin/env python3
"""referrers.py REFERRERS EDGES OBJECTS TYPE - holders of the blocks of a type, as 'why --referrers'
has them, against all pointers and all blocks; files of CSV.  Holders whose type is not known are
compared in their sum only, as their classes have names of their own."""
import csv
import sys


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def fail(what, got, wanted):
    sys.exit(f"{what}: got {got}, wanted {wanted}")


def main():
    rows, edges, objects = (read(path) for path in sys.argv[1:4])
    block = {row["address"]: row for row in objects}
    wanted = {}
    for edge in edges:
        target, holder = block[edge["to"]], block.get(edge["from"])
        if target["type"] != sys.argv[4] or target["reachable"] != "1":
            continue
        if holder and holder["reachable"] != "1":
            continue
        if holder is None:
            key = ("root",)
        elif not holder["type"]:
            key = ("unknown",)
        else:
            key = (holder["type"], holder["tag"], edge["field"] if edge["kind"] == "field" else "")
        dominates = target["idom"] == edge["from"] or (holder is None and target["idom"] == "root")
        wanted.setdefault(key, []).append((edge["from"], edge["to"], dominates))
    got = {}
    for row in rows:
        holder = block.get(row["address"])
        if holder is None:
            key = ("root",)
        elif not holder["type"]:
            key = ("unknown",)
        else:
            key = (holder["type"], holder["tag"], row["field"])
            if holder["type"] != row["holder"]:
                fail("name of the class", row["holder"], holder["type"])
            if row["field_name"] == "[]":
                key = (*key[:2], "[]")
                for other in [k for k in wanted if k[:2] == key[:2]]:
                    wanted.setdefault(key, []).extend(wanted.pop(other))
        numbers = [int(row[name]) for name in ("pointers", "holders", "targets", "dominated")]
        got[key] = [a + b for a, b in zip(got.get(key, [0] * 4), numbers)]
    if set(got) != set(wanted):
        fail("holders", sorted(set(got) - set(wanted)), sorted(set(wanted) - set(got)))
    if not wanted:
        sys.exit("nobody points to it")
    for key, pointers in wanted.items():
        truth = [
            len(pointers),
            len({p[0] for p in pointers}),
            len({p[1] for p in pointers}),
            len({p[1] for p in pointers if p[2]}),
        ]
        if key in (("root",), ("unknown",)):
            # Several rows: only pointers add up.
            if got[key][0] != truth[0]:
                fail(key, got[key], truth)
        elif got[key] != truth:
            fail(key, got[key], truth)


main()

#!/usr/bin/env python3
"""edges.py EDGES.csv OBJECTS.csv MOST|all [copies]: does what 'objects' says follow from what 'edges' says?

By brute force: reachable is what a search finds; a node dominates what no search finds without it
(tried for MOST nodes); the immediate dominator is the one of a node's dominators
that all others of them dominate.  With 'copies' globals that are others again are of the last
tier, and no other is; else none.  Prints what is wrong."""
import csv
import sys
from collections import defaultdict

edges = list(csv.DictReader(open(sys.argv[1], newline="")))
objects = list(csv.DictReader(open(sys.argv[2], newline="")))
most = None if sys.argv[3] == "all" else int(sys.argv[3])
has_copies = "copies" in sys.argv[4:]
blocks = len(objects)
wrong = 0


def say(*words):
    global wrong
    wrong += 1
    if wrong <= 5:
        print(*words)


# The names of nodes agree with their numbers, and edges come in order.
name = {}
for e in edges:
    for end in "from", "to":
        number = int(e[end + "_node"])
        if name.setdefault(number, e[end]) != e[end]:
            say("two names of node", number)
        if (number < blocks) != e[end].startswith("0x"):
            say("no block", e)
        if number < blocks and objects[number]["address"] != e[end]:
            say("another block", e)
keys = [(int(e["from_node"]), e["field"] == "", int(e["field"] or 0)) for e in edges]
if keys != sorted(keys) or len(set(k for k in keys if not k[1])) != sum(not k[1] for k in keys):
    say("edges are not in order, or a field has two")

leads = defaultdict(list)
tiers = {"root": [], "passing": [], "last": []}
held = set()
for e in edges:
    a, b = int(e["from_node"]), int(e["to_node"])
    leads[a].append(b)
    if e["kind"] in tiers and a not in tiers[e["kind"]]:
        tiers[e["kind"]].append(a)

# A copy is what a global before has, too, or a block of nothing but what globals have.  A pointer into
# the middle of a closure looks like one to its block here: closures are left out.
fields = defaultdict(list)
slots = defaultdict(list)
for e in edges:
    target = int(e["to_node"])
    if e["kind"] == "field":
        fields[int(e["from_node"])].append(target)
    elif e["from"].startswith("global "):
        slots[target].append(e)
for target, same in slots.items():
    inside = [f for f in fields[target] if f != target]
    again = objects[target]["tag"] == "0" and inside and all(f in slots for f in inside)
    first = min(int(e["from_node"]) for e in same)
    for e in same:
        is_copy = has_copies and (again or int(e["from_node"]) != first)
        if objects[target]["tag"] != "247" and (e["kind"] == "last") != bool(is_copy):
            say("a copy of a global or not:", e)


def search(starts, seen, to):
    stack = [n for n in starts if n not in seen]
    seen.update(stack)
    while stack:
        for n in to[stack.pop()]:
            if n not in seen:
                seen.add(n)
                stack.append(n)


# Each tier of roots holds what those before it do not reach.
tier = {}
seen = set()
for number, roots in enumerate(tiers.values()):
    before = set(seen)
    search(roots, seen, leads)
    for n in seen - before:
        tier[n] = number
kept = {a: [b for b in bs if b in tier and tier[b] >= tier[a]] for a, bs in leads.items() if a in tier}
kept = defaultdict(list, kept)
TOP = -1
kept[TOP] = [r for roots in tiers.values() for r in roots]

for i, o in enumerate(objects):
    if (i in tier) != (o["reachable"] == "1"):
        say("reachable:", o["address"])

size = {i: int(o["bytes"]) for i, o in enumerate(objects)}
below = {}
tried = sorted(tier)
if most and len(tried) > most:
    tried = tried[:: len(tried) // most + 1]
for v in tried:
    alive = {v}
    search([TOP], alive, kept)
    below[v] = set(tier) - alive | {v}
    retained = sum(size.get(n, 0) for n in below[v])
    if v < blocks and retained != int(objects[v]["retained_bytes"]):
        say("retained:", objects[v]["address"], retained, objects[v]["retained_bytes"])

number = {o["address"]: i for i, o in enumerate(objects)}
if len(tried) == len(tier):
    over = defaultdict(list)
    for v, dominated in below.items():
        for n in dominated - {v}:
            over[n].append(v)
    for n in tier:
        if n >= blocks:
            continue
        # The nearest is the one that dominates least.
        nearest = min(over[n], key=lambda v: len(below[v]), default=TOP)
        idom = objects[n]["idom"]
        said = number[idom] if idom.startswith("0x") else None
        if (said is None) != (nearest == TOP or nearest >= blocks) or said not in (None, nearest):
            say("idom:", objects[n]["address"], idom, nearest)
        tops = [v for v in over[n] if v >= blocks]
        last = max(over[n], key=lambda v: len(below[v]), default=n)
        wanted = name.get(last, "") if last >= blocks else ""
        if objects[n]["root"] != wanted:
            say("root:", objects[n]["address"], objects[n]["root"], wanted)
else:
    for v in tried:
        for n in below[v] - {v}:
            if n < blocks and v < blocks and objects[n]["root"] != objects[v]["root"]:
                say("root:", objects[n]["address"])
if not tier:
    say("nothing is reachable")
sys.exit(wrong != 0)

#!/usr/bin/env python3
# trace_sizes.py RATE MODE DUMP SIZES LIFETIMES: whether both answers, as JSON, are what the events of
# a dump say.  MODE: all, major (--not-on minor), notebooks (--compat).
import json
import math
import sys
from bisect import bisect_right
from fractions import Fraction

WRONG = []


def same(what, got, wanted):
    if isinstance(got, list) and len(got) == len(wanted) > 1:
        for i, (one, other) in enumerate(zip(got, wanted)):
            same(f"{what}, {i}", one, other)
    elif got != wanted and len(WRONG) < 20:
        WRONG.append(f"{what}: got {got}, wanted {wanted}")


def near(what, got, wanted):
    wanted = float(wanted)
    if abs(float(got) - wanted) > 1e-12 * max(abs(wanted), 1) and len(WRONG) < 20:
        WRONG.append(f"{what}: got {got}, wanted {wanted!r}")


def half_up(number):
    return math.floor(number + 0.5)


class Block:
    def __init__(self, samples, words, heap):
        self.samples, self.words = samples, words
        self.begin = self.end = None  # (time, tick)
        self.blocks = samples / max(words + (heap != "alloc_ext"), 1)


def read(dump, mode):
    """Blocks, those that begin in the order of the ticks, the ticks, and when it ends."""
    blocks, events, latest, last, ended = {}, [], 0, 0, 0
    with open(dump, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            time, name, kind, rest = (line.split(None, 3) + [""])[:4]
            time = int(time)
            latest = max(latest, time)
            if kind.startswith("alloc"):
                samples, length = rest.split(None, 2)[:2]
                block = Block(int(samples), int(length.partition("=")[2].rstrip(":")), kind)
                blocks[name] = block
                last = time
                begins = mode == "all" or kind != "alloc"
            else:
                block = blocks.get(name)
                begins = kind == "promote" and mode != "all"
            if mode == "notebooks":
                time = last
            if begins:
                events.append((time, len(events), block, False))
            elif kind == "collect" and block.begin is not None:
                events.append((time, len(events), block, True))
            if begins:
                block.begin = ()
    if mode != "notebooks":
        events.sort(key=lambda event: event[:2])
    else:
        latest = max((event[0] for event in events), default=0)
    began = []
    for tick, (time, _, block, is_end) in enumerate(events):
        if is_end:
            block.end = (time, tick)
        else:
            block.begin = (time, tick)
            began.append(block)
    return blocks, began, len(events), latest


def weighed(blocks, weight):
    if weight == "events":
        return [1] * len(blocks)
    if weight == "blocks":
        return [block.blocks for block in blocks]
    return [block.samples for block in blocks]


def total(numbers):
    """Exact, but for the rounding of its result where there are floats."""
    numbers = list(numbers)
    return math.fsum(numbers) if any(isinstance(n, float) for n in numbers) else sum(numbers)


def quotient(a, b):
    return a / b if isinstance(a, float) or isinstance(b, float) else Fraction(a, b)


def summed(weight, number, rate):
    if weight == "events":
        return number
    if weight == "blocks":
        return half_up(number / rate)
    return half_up(number / rate * 8)


def check_moments(what, row, values, blocks, rate):
    by = row["weight"]
    table = {}
    for value, weight in zip(values, weighed(blocks, by)):
        table.setdefault(value, []).append(weight)
    table = {value: total(weights) for value, weights in table.items()}
    count = total(table.values())
    what = f"{what} by {by}"
    same(f"{what}: count", row["count"], summed(by, count, rate))
    mean = quotient(total(v * w for v, w in table.items()), count) if count else 0
    squares = total(w * v * v for v, w in table.items())
    variance = quotient(squares, count) - mean * mean if count else 0
    if by == "blocks":  # not exact: of what is left of the mean
        rest = total(w * (v - mean) * (v - mean) for v, w in table.items())
        variance = rest / count if count else 0
    near(f"{what}: mean", row["mean"], mean)
    near(f"{what}: variance", row["variance"], variance)
    near(f"{what}: deviation", row["deviation"], math.sqrt(variance))
    most = row["largest"] if "largest" in row else row["longest"]
    same(f"{what}: most", most, max(values, default=0))
    return table, count


def check_sizes(rows, mode, began, blocks, rate):
    count, parts = len(began), {}
    parts["all"] = began
    parts["middle"] = began[100 : count - 100] if count > 200 else []
    parts["above_256"] = [block for block in began if block.words > 256]
    for cut in (2, 10):
        step = -(-count // cut)
        for i, at in enumerate(range(0, count, step) if step else []):
            parts[f"{i + 1}/{cut}"] = began[at : at + step]
    if mode == "notebooks":
        parts["every"] = list(blocks.values())
    weights = ["events"] if mode == "notebooks" else ["events", "blocks", "bytes"]
    same("parts", [(row["part"], row["weight"]) for row in rows],
         [(part, weight) for part in parts for weight in weights])
    for row in rows:
        some = parts.get(row["part"], [])
        what = f"sizes of {row['part']}"
        table, all_of_it = check_moments(what, row, [b.words for b in some], some, rate)
        scale = rate if row["weight"] == "blocks" else 1
        if row["weight"] != "bytes":
            near(f"{what}: words", row["words"], total(v * w for v, w in table.items()) / scale)
        for bound in (127, 256):
            above = total(w for v, w in table.items() if v > bound)
            same(f"{what}: above {bound}", row[f"above_{bound}"], summed(row["weight"], above, rate))
            near(f"{what}: percent above {bound}", row[f"above_{bound}_percent"],
                 100 * above / all_of_it if all_of_it else 0)
        if some and row["part"] != "every" and row["part"] != "above_256":
            times = [block.begin[0] for block in some]
            same(f"{what}: times", (row["from_us"], row["to_us"]), (min(times), max(times)))


def check_counts(what, row, blocks, rate, mode):
    same(f"{what}: events", row["events"], len(blocks))
    if mode == "notebooks":
        return
    samples = sum(block.samples for block in blocks)
    same(f"{what}: samples", row["samples"], samples)
    same(f"{what}: bytes", row["bytes"], summed("bytes", samples, rate))
    estimate = math.fsum(block.blocks for block in blocks) / rate
    # A sum of doubles may be rounded to the other side of a half.
    if abs(row["blocks"] - estimate) > 0.5 + 1e-9 * estimate:
        same(f"{what}: blocks", row["blocks"], half_up(estimate))


def bounds_of(mode, low, high, bins, of_range):
    """The first whole number of each bin; one more at the end is above the last."""
    if mode == "notebooks":
        a, b = (low - 0.5, high + 0.5) if low == high else (float(low), float(high))
        step = (b - a) / bins
        edges = [i * step + a for i in range(bins)] + [b]
        return edges, [math.ceil(edge) for edge in edges[:-1]] + [high + 1]
    if of_range and high - low < bins:
        return None, list(range(low, high + 2))
    return None, [low + math.ceil(Fraction((high - low) * i, bins)) for i in range(bins)] + [high + 1]


def check_histogram(what, rows, mode, pairs, low, high, bins, rate, alive=None):
    of_range = low is None or high is None
    inside = [p for p in pairs if (low is None or p[0] >= low) and (high is None or p[0] <= high)]
    if of_range and not inside:
        return same(f"{what}: bins", len(rows), 0)
    low = min(v for v, _ in inside) if of_range else low
    high = max(v for v, _ in inside) if of_range else high
    edges, firsts = bounds_of(mode, low, high, bins, of_range)
    held = [[] for _ in firsts[:-1]]
    for value, block in inside:
        at = bisect_right(edges if edges else firsts, value) - 1
        held[min(at, len(held) - 1)].append(block)
    same(f"{what}: bins", [(row["from"], row["to"]) for row in rows],
         [(a, b - 1) for a, b in zip(firsts, firsts[1:])])
    for row, some in zip(rows, held):
        check_counts(f"{what} from {row['from']}", row, some, rate, mode)
        if alive is not None:
            same(f"{what}: alive", row["alive"], sum(block in alive for block in some))
    return None


def check_powers(what, rows, pairs, rate, alive=None):
    held, first = {}, 0
    for value, block in pairs:
        held.setdefault(value.bit_length(), []).append(block)
    for i, row in enumerate(rows):
        same(f"{what}: bounds", (row["from"], row["to"]), (first, (1 << i) - 1))
        check_counts(f"{what} from {first}", row, held.get(i, []), rate, "all")
        if alive is not None:
            same(f"{what}: alive", row["alive"], sum(b in alive for b in held.get(i, [])))
        first = 1 << i
    same(f"{what}: bins", len(rows), max(held) + 1 if held else 0)


def check_table(rows, began, every, rate, mode):
    table = {}
    for block in every if mode == "notebooks" else began:
        table.setdefault(block.words, [])
    for block in began:
        table[block.words].append(block)
    same("sizes", [row["words"] for row in rows], sorted(table))
    for row in rows:
        check_counts(f"size {row['words']}", row, table[row["words"]], rate, mode)
        if mode == "notebooks":
            same("every", row["every_events"], sum(b.words == row["words"] for b in every))


def main():
    rate, mode, dump = float(sys.argv[1]), sys.argv[2], sys.argv[3]
    with open(sys.argv[4], encoding="utf-8") as file:
        sizes = json.load(file)
    with open(sys.argv[5], encoding="utf-8") as file:
        lifetimes = json.load(file)
    blocks, began, ticks, latest = read(dump, mode)
    every = list(blocks.values())
    check_sizes(sizes["statistics"], mode, began, blocks, rate)
    if mode != "notebooks" or len(every) < 20000:
        check_table(sizes["sizes"], began, every, rate, mode)
    pairs = [(block.words, block) for block in began]
    old = [(block.words, block) for block in every] if mode == "notebooks" else pairs
    for name, of, low, high, bins in (
            ("to_32", pairs, 0, 32, 32), ("to_256", pairs, 32, 256, 100),
            ("to_10000", pairs, 256, 10000, 100), ("above_10000", pairs, 10001, None, 100),
            ("in_8", old, None, None, 8), ("in_1000", old, None, None, 1000),
            ("to_100", old, 0, 100, 100), ("to_9000", old, 0, 9000, 100)):
        check_histogram(name, sizes[name], mode, of, low, high, bins, rate)

    alive = {block for block in began if block.end is None}
    same("alive", lifetimes["alive_total"], len(alive))
    same("ticks", lifetimes["ticks_total"], ticks)
    same("end", lifetimes["end_us"], latest)
    same("events", (sizes["events_total"], lifetimes["events_total"]), (len(began), len(began)))
    lives = {"microseconds": [], "ticks": []}
    for block in began:
        time, tick = block.end or (latest, ticks)
        life = time - block.begin[0]
        lives["microseconds"].append(life if mode == "notebooks" else max(life, 0))
        lives["ticks"].append(max(tick - block.begin[1], 0))
    for row in lifetimes["statistics"]:
        check_moments(row["unit"], row, lives[row["unit"]], began, rate)
    same("units", len(lifetimes["statistics"]), 2 if mode == "notebooks" else 6)
    us = list(zip(lives["microseconds"], began))
    check_histogram("ticks", lifetimes["ticks"], mode, list(zip(lives["ticks"], began)), 0, 32, 32,
                    rate, alive)
    check_histogram("microseconds", lifetimes["microseconds"], mode, us, None, None, 100, rate, alive)
    if mode != "notebooks":
        check_powers("powers of sizes", sizes["powers"], pairs, rate)
        check_powers("powers of lifetimes", lifetimes["powers"], us, rate, alive)
    print("; ".join(WRONG) or f"as the {len(began)} blocks of the dump say")
    sys.exit(1 if WRONG else 0)


main()

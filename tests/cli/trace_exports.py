#!/usr/bin/env python3
"""Compares exports of a trace with its events.

    trace_exports.py pprof|speedscope DUMP RATE MOMENT FILE

DUMP is the text of trace dump, MOMENT the microsecond of what is in use.  Prints what differs.
"""
import collections
import json
import sys


def stacks_of_dump(path, rate, moment):
    """By stack of (function, file, line), outermost first and each once: blocks and words."""
    objects, sums = {}, collections.defaultdict(lambda: [0.0, 0, 0.0, 0])
    for text in open(path):
        head, _, frames = text.partition(": ")
        fields = head.split()
        time, number, kind = int(fields[0]), fields[1], fields[2]
        if kind == "collect":
            stack, samples, blocks, alive = objects.pop(number)
            if alive and time <= moment:
                sums[stack][2] -= blocks
                sums[stack][3] -= samples
        if not kind.startswith("alloc"):
            continue
        samples, length = int(fields[3]), int(fields[4][4:])
        stack = []
        for frame in frames.split():
            function, _, place = frame.rpartition("@")
            file, line, columns = place.rsplit(":", 2) if function else ("", "0", "")
            key = (function or frame, file, int(line), columns)
            if key not in stack:
                stack.append(key)
        stack = tuple(key[:3] for key in stack)
        blocks = samples / rate / (length + (kind != "alloc_ext") or 1)
        alive = time <= moment
        objects[number] = (stack, samples, blocks, alive)
        sums[stack][0] += blocks
        sums[stack][1] += samples
        if alive:
            sums[stack][2] += blocks
            sums[stack][3] += samples
    return {s: [b, n / rate * 8, a, m / rate * 8] for s, (b, n, a, m) in sums.items()}


def fields_of(data):
    """Fields of a message: number, and an integer or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
        else:
            assert tag & 7 == 2
            length = varint()
            at += length
            yield tag >> 3, data[at - length:at]


def numbers_of(data):
    return [v for _, v in fields_of(b"".join(b"\x08" + part for part in split_varints(data)))]


def split_varints(data):
    start = 0
    for i, byte in enumerate(data):
        if byte < 128:
            yield data[start:i + 1]
            start = i + 1


def stacks_of_pprof(path):
    strings, functions, locations, samples, types = [], {}, {}, [], []
    for field, value in fields_of(open(path, "rb").read()):
        if field == 6:
            strings.append(value.decode())
        elif field == 1:
            types.append(dict(fields_of(value)))
        elif field == 5:
            function = dict(fields_of(value))
            functions[function[1]] = function
        elif field == 4:
            location = dict(fields_of(value))
            line = dict(fields_of(location[4]))
            locations[location[1]] = (line[1], line.get(2, 0))
        elif field == 2:
            samples.append(dict(fields_of(value)))
    assert [strings[t[1]] for t in types] == ["alloc_objects", "alloc_space", "inuse_objects", "inuse_space"]
    assert strings[0] == ""
    result = collections.defaultdict(lambda: [0, 0, 0, 0])
    for sample in samples:
        stack = []
        for number in reversed(numbers_of(sample[1])):
            function, line = locations[number]
            name = strings[functions[function].get(2, 0)]
            if name != "(no backtrace)":
                stack.append((name, strings[functions[function].get(4, 0)], line))
        for i, value in enumerate(numbers_of(sample[2])):
            result[tuple(stack)][i] += value
    return result


def stacks_of_speedscope(path):
    document = json.load(open(path))
    frames = [(f["name"], f.get("file", ""), f.get("line", 0)) for f in document["shared"]["frames"]]
    result = collections.defaultdict(lambda: [None, 0, None, 0])
    for profile, column in zip(document["profiles"], (1, 3)):
        stack, last = [], profile["startValue"]
        for event in profile["events"]:
            key = tuple(f for f in stack if f[0] != "(no backtrace)")
            if event["at"] > last:
                result[key][column] += event["at"] - last
            assert event["at"] >= last
            last = event["at"]
            if event["type"] == "O":
                stack.append(frames[event["frame"]])
            else:
                assert stack.pop() == frames[event["frame"]]
        assert not stack and last == profile["endValue"]
    return result


def main():
    kind, dump, rate, moment, path = sys.argv[1:]
    wanted = stacks_of_dump(dump, float(rate), int(moment))
    got = (stacks_of_pprof if kind == "pprof" else stacks_of_speedscope)(path)
    differ = len(set(wanted) ^ set(got))
    for stack, values in wanted.items():
        for a, b in zip(values, got[stack]):
            if b is not None and abs(a - b) > 1.5 + 1e-6 * abs(a):
                differ += 1
                print(stack, values, got[stack])
    print(f"{len(wanted)} stacks, {differ} differ")


main()

"""What all charts of areas have: text that can be read, axes, and areas that stand on each other.  Fails by itself
where text is small, cut off or covered, or marks are not as far apart as they say."""
import sys
import xml.etree.ElementTree

SPACE = "{http://www.w3.org/2000/svg}"
LEFT, RIGHT, HEIGHT = 82, 916, 330
REST = "#c3c8cc"
UNITS = {"": 0, "B": 0, "KB": 1, "MB": 2, "GB": 3}
# Half of what coordinates are rounded to, at both edges.
NEAR = 0.021

root = xml.etree.ElementTree.parse(sys.argv[1]).getroot()


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
number, _, unit = ticks[-1].partition(" ")
end = float(number.replace(",", "")) * 1024 ** UNITS[unit]
lines = [points(p) for p in root.iter(SPACE + "polyline")]
levels = [p[0][1] for p in lines if len(p) == 2 and p[0][0] == LEFT and p[1][0] == RIGHT]
if ticks[0] != "0" or len(levels) != len(ticks) or abs(levels[0] - levels[-1] - HEIGHT) > NEAR:
    fail(f"marks {ticks} at {levels}")
steps = [b - a for a, b in zip(levels, levels[1:])]
if max(steps) - min(steps) > NEAR:
    fail(f"marks are not as far apart: {steps}")
bottom = levels[0]


def areas_of(count):
    """Fills and corners of areas of so many points, from the lowest, and their names."""
    areas = [(p.get("fill"), points(p)[:-1]) for p in root.iter(SPACE + "polygon") if p.get("fill") != "white"]
    areas = [a for a in areas if len(a[1]) == 4 * count and a[1][0][0] >= LEFT]
    names = [t for t in texts if float(t.get("x")) == 58 and t.get("font-size") == "9.75" and
             "Courier" in t.get("font-family")]
    names.reverse()
    if len(names) != len(areas) or not areas:
        fail(f"{len(areas)} areas, {len(names)} names")
    if len({fill for fill, _ in areas}) != len(areas):
        fail("two areas of one colour")
    return areas, names


def stack(areas, count):
    """Of each area, from the lowest, how much it is at each point, and where it ends."""
    below = [bottom] * count
    for fill, corners in areas:
        upper = corners[0:2 * count:2]
        lower = corners[2 * count:][::-1][0::2]
        for i, (_, y) in enumerate(lower):
            if abs(y - below[i]) > NEAR:
                fail(f"the area {fill} does not stand on what is below it at point {i}")
        below = [y for _, y in upper]
        yield [(a[1] - b[1]) / -HEIGHT * end for a, b in zip(upper, lower)], upper

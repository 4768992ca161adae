"""Pictures: the same bytes every time, well-formed, self-contained, nothing outside the canvas, and no input that breaks them."""
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from itertools import combinations, pairwise
from random import Random

import ml_dtypes
import numpy as np
import pytest

from tfedu.core.draw import array, below, beside, broadcast, caption, ends, spread, text_width, ticks, value_text
from tfedu.core.draw_graph import crossings, graph, layer_of, nested, tape, timeline, untangle
from tfedu.core.draw_plot import curve, grey_levels, images, png

NASTY = "a<b>&\"c'\x00\x07\ud800\n]]>"
ODD = np.array([0., -0., np.nan, np.inf, -np.inf, 1e-300, 1e300, 123456., -1 / 3])


def random_dag(seed, count=12, degree=2):
    random, edges = Random(seed), []
    for b in range(1, count): edges += [(random.randrange(b), b) for _ in range(random.randint(0, degree))]
    return {k: [f"op{k}", f"({k}, {k})"][:1 + k % 2] for k in range(count)}, edges


PICTURES = {
    "scalar": lambda: array(3.5, "x"), "vector": lambda: array(np.arange(100)), "matrix": lambda: array(np.eye(3), highlight=(0, 1)),
    "cube": lambda: array(np.arange(24).reshape(2, 3, 4)), "many axes": lambda: array(np.zeros((2, 3, 2, 2, 9))),
    "no rows": lambda: array(np.zeros((0, 3))),
    "no slices": lambda: array(np.zeros((0, 2, 3))), "no columns": lambda: array(np.zeros((2, 3, 0))),
    "odd floats": lambda: array(ODD), "only nan": lambda: array([np.nan] * 3), "bools": lambda: array([True, False]),
    "complex": lambda: array(np.array([1 + 2j, complex(np.nan, -np.inf)])), "strings": lambda: array(np.array([NASTY, "long" * 9])),
    "bytes": lambda: array(np.array([b"\xff<", b""], object)), "objects": lambda: array(np.array([None, object(), 2**70], object)),
    "bfloat16": lambda: array(np.array([1., -2.5], ml_dtypes.bfloat16)), "float16": lambda: array(np.array([65504, -1e-7], np.float16)),
    "int64": lambda: array(np.array([2**63 - 1, -2**63])), "dates": lambda: array(np.array(["2020-01-01"], "datetime64[D]")),
    "named": lambda: array([1, 2], NASTY),
    "broadcast": lambda: broadcast((3, 1), (1, 4)), "broadcast many": lambda: broadcast((2, 3, 1, 9), (9,), ()),
    "broadcast empty": lambda: broadcast((0, 3), (3,)), "broadcast huge": lambda: broadcast((10**6, 1, 10**6), (10**6, 1)),
    "graph": lambda: graph(*random_dag(1)), "graph down": lambda: graph(*random_dag(2), down=True), "no graph": lambda: graph({}, []),
    "lonely": lambda: graph(["x"], []), "labels": lambda: graph({"x": [NASTY, "1", "2"], "y": NASTY}, [("x", "y", NASTY), ("x", "y", "<")]),
    "tape": lambda: tape([("multiply", [1, 2], 3), (NASTY, [3, 1, 2.5], [4, 5])], {1: "x", 2: NASTY}, {1: 3., 4: "<g>"}, {3: 6.}),
    "long tape": lambda: tape([("add", [k, k], k + 1) for k in range(500)]),
    "no tape": lambda: tape([]), "unread": lambda: tape([("make", [], 1)]),
    "timeline": lambda: timeline([("GPU:0", "a", 0, 2), ("GPU:0", NASTY, 1, 1.5), (NASTY, "a", 3, 3)]), "no timeline": lambda: timeline([]),
    "curve": lambda: curve({"a": [1., np.nan, 3.], NASTY: ([0, 5], [2., np.inf])}, NASTY,
    "y", dots=["a"]), "log": lambda: curve([100., 1., 0., -1.], log=True),
    "no curve": lambda: curve({}),
    "empty curve": lambda: curve({"a": []}), "constant": lambda: curve([2., 2.]), "bare": lambda: curve(([1, 2], [3, 4])),
    "images": lambda: images(np.arange(2 * 4 * 4).reshape(2, 4, 4), ["3", (NASTY, False)]),
    "no images": lambda: images(np.zeros((0, 28, 28))),
    "colour": lambda: images(np.random.default_rng(0).random((70, 3, 5, 3))), "channel": lambda: images(np.full((1, 2, 2, 1), np.nan)),
    "beside": lambda: beside(*[array(np.zeros((3, 9)))] * 5), "nothing": lambda: beside(), "stack": lambda: below(caption(NASTY, NASTY)),
}
every = pytest.mark.parametrize("name", PICTURES)


@every
def test_is_well_formed_and_self_contained(name):
    picture = PICTURES[name]()
    root = ElementTree.fromstring(picture.svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg" and float(root.get("width")) >= 4 and float(root.get("height")) >= 4
    assert "max-width:100%" in root.get("style") and len(root.get("viewBox").split()) == 4
    assert not re.search(r"\bid=|url\(|<script|<style|javascript:", picture.svg)
    assert picture.svg.count("http") == 1, "the name space of SVG is the only address"
    for node in root.iter():
        for key, value in node.items():
            assert "nan" not in value.split() and "inf" not in value.split(), (key, value)
            if key.endswith("href"): assert value.startswith("data:image/png;base64,")


@every
def test_is_the_same_twice_and_says_what_it_is(name):
    assert str(PICTURES[name]()) == PICTURES[name]().svg
    assert re.fullmatch(r"<picture: [^\n]+>", repr(PICTURES[name]())) and "0x" not in repr(PICTURES[name]())
    assert PICTURES[name]()._repr_html_() == f'<div style="overflow-x:auto">{PICTURES[name]().svg}</div>'


def test_is_the_same_in_another_process(tmp_path):
    code = f"import sys; sys.path.insert(0, {os.path.dirname(__file__)!r})\nfrom test_draw import PICTURES\nfrom hashlib import sha256\n" \
           "print({name: sha256(make().svg.encode()).hexdigest() for name, make in PICTURES.items()})"
    shown = {subprocess.run([sys.executable, "-c", code], env=os.environ | {"PYTHONHASHSEED": seed}, check=True,
                            capture_output=True, text=True, cwd=os.path.dirname(os.path.dirname(__file__))).stdout for seed in ("1", "2")}
    assert len(shown) == 1


def placed(node, x=0., y=0.):
    "Every element with the offset at which it is drawn."
    move = re.fullmatch(r"translate\((\S+) (\S+)\)", node.get("transform", ""))
    if move: x, y = x + float(move[1]), y + float(move[2])
    yield node, x, y
    for child in node: yield from placed(child, x, y)


def extents(picture):
    "Left, top, right, bottom of every box and text."
    for node, x, y in placed(ElementTree.fromstring(picture.svg)):
        kind, get = node.tag.split("}")[1], lambda key, node=node: float(node.get(key, 0))
        if kind in ("rect", "image"): yield kind, x + get("x"), y + get("y"), x + get("x") + get("width"), y + get("y") + get("height")
        if kind == "text":
            size = get("font-size")
            width = text_width(node.text or "", size) * {"600": .95}.get(node.get("font-weight"), .9)
            left = x + get("x") - width * {"start": 0, "middle": .5, "end": 1}[node.get("text-anchor")]
            yield kind, left, y + get("y") - .7 * size, left + width, y + get("y")


@every
def test_nothing_is_drawn_outside(name):
    picture = PICTURES[name]()
    for kind, left, top, right, bottom in extents(picture):
        inside = left >= -3 and top >= -3 and right <= picture.width + 3 and bottom <= picture.height + 3
        assert inside, (kind, left, top, right, bottom)


def test_save(tmp_path):
    array([1, 2]).save(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == array([1, 2]).svg


def test_cells():
    assert [value_text(v) for v in (np.float32(.1), np.bool_(True), np.int8(-3), b"a", "b", 1e-7)] == ["0.1", "T", "-3", "a", "b", "1e-7"]
    assert max(len(value_text(v)) for v in ODD) <= 9
    svg = array(np.arange(6).reshape(2, 3), highlight=(slice(None), 1)).svg
    assert svg.count('stroke-width="2.5"') == 2
    with pytest.raises(IndexError): array([1, 2], highlight=5)


def test_large_arrays_make_small_pictures():
    assert len(array(np.zeros((300, 300, 30))).svg) < 60_000
    assert len(array(np.zeros((2,) * 12)).svg) < 60_000
    assert ends(10**9, 8) == [0, 1, 2, 3, 4, None, 10**9 - 2, 10**9 - 1]


def test_broadcast_that_does_not_fit():
    with pytest.raises(ValueError, match="shape mismatch"): broadcast((2, 3), (4,))


def test_spread_is_the_nearest_arrangement():
    random = Random(0)
    for _ in range(200):
        wanted, gap = [random.uniform(0, 50) for _ in range(5)], random.uniform(1, 15)
        at = spread(wanted, [gap] * 5)
        assert all(b - a >= gap - 1e-9 for a, b in pairwise(at))
        cost = sum((a - w) ** 2 for a, w in zip(at, wanted, strict=True))
        for _ in range(50):
            other = [a + random.gauss(0, 1) for a in at]
            if any(b - a < gap for a, b in pairwise(other)): continue
            assert sum((a - w) ** 2 for a, w in zip(other, wanted, strict=True)) >= cost - 1e-9
    assert spread([], []) == []


def test_ticks():
    assert ticks(0, 1) == [0., .2, .4, .6, .8, 1.] and ticks(-1, 1) == [-1., -.5, 0., .5, 1.] and ticks(3, 3) == [3]
    for low, high in [(0, 7), (1e-9, 3e-9), (-12345, 12345), (99.5, 100.5)]:
        marks = ticks(low, high)
        assert 3 <= len(marks) <= 7 and all(low - 1e-6 * (high - low) <= t <= high + 1e-6 * (high - low) for t in marks)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("down", [False, True])
def test_graph_nodes_do_not_overlap(seed, down):
    nodes, edges = random_dag(seed)
    picture = graph(nodes, edges, down=down)
    boxes = [e[1:] for e in extents(picture) if e[0] == "rect"]
    assert len(boxes) == len(nodes) and picture.svg.count("<polygon") == len(edges)
    for (a, b, c, d), (p, q, r, s) in combinations(boxes, 2): assert c <= p or r <= a or d <= q or s <= b


def test_graph_layers_and_crossings():
    for seed in range(20):
        nodes, edges = random_dag(seed)
        layer = layer_of(list(nodes), edges)
        assert all(layer[a] < layer[b] for a, b in edges) and min(layer.values()) >= 0
        rows, random = [[f"a{k}" for k in range(5)], [f"b{k}" for k in range(5)]], Random(seed)
        links = [(random.choice(rows[0]), random.choice(rows[1])) for _ in range(8)]
        straight = sum((int(a[1]) - int(c[1])) * (int(b[1]) - int(d[1])) < 0 for (a, b), (c, d) in combinations(links, 2))
        assert crossings(rows, links) == straight and crossings(untangle(rows, links), links) <= straight
    with pytest.raises(ValueError, match="cycle"): graph({"a": "a", "b": "b"}, [("a", "b"), ("b", "a")])
    with pytest.raises(ValueError, match="'c', which is not among the nodes"): graph({"a": "a"}, [("a", "c")])


def test_a_long_chain_is_drawn():
    assert graph({k: str(k) for k in range(2000)}, list(pairwise(range(2000)))).svg.count("<polygon") == 1999


def test_timeline():
    assert nested([(0, 4), (1, 2), (2, 3), (2, 5)]) == [0, 1, 2, 1]
    with pytest.raises(ValueError, match="ends before it starts"): timeline([("a", "b", 2, 1)])


def test_curve_and_images_refuse():
    with pytest.raises(ValueError, match="one length"): curve(([1, 2], [1]))
    with pytest.raises(ValueError, match="one length"): curve({"a": [[1, 2]]})
    with pytest.raises(ValueError, match="must have shape"): images(np.zeros((28, 28)))
    with pytest.raises(ValueError, match="2 images but 1 captions"): images(np.zeros((2, 4, 4)), ["a"])
    with pytest.raises(ValueError, match="uint8"): png(np.zeros((2, 2)))
    assert len(curve(np.zeros(10**6)).svg) < 20_000


@pytest.mark.parametrize("shape", [(5, 7), (5, 7, 3)])
def test_png_is_read_back(shape, tmp_path):
    pillow = pytest.importorskip("PIL.Image")
    pixels = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
    (tmp_path / "a.png").write_bytes(png(pixels))
    with pillow.open(tmp_path / "a.png") as image: assert np.array_equal(np.asarray(image), pixels)


def test_grey_levels():
    assert grey_levels(np.array([[[0, 300, -5]]])).tolist() == [[[0, 255, 0]]]
    assert grey_levels(np.array([[[0., 1., .5]]], np.float32)).tolist() == [[[0, 255, 128]]]
    assert grey_levels(np.array([[[True, False]]])).tolist() == [[[255, 0]]]

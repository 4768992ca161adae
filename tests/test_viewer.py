"""A view of a graph: complete, the same every time, usable without a script, and quick for large graphs."""
import time
from html.parser import HTMLParser

import numpy as np
import pytest

import tfedu as tf
from tfedu.program.concrete import Traced
from tfedu.program.graph import Graph
from tfedu.program.rewrite import merge, prune
from tfedu.program.simplify import simplify
from tfedu.program.viewer import Part, compare, cut, difference, folded, members, setting_text, type_text, view

VOID = {"br", "meta"}


class Page(HTMLParser):
    "The tags, ids and links of a page. Fails on a tag that is closed in the wrong place."
    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.ids, self.links = [], {}, [], []
        self.feed(html)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags[tag] = self.tags.get(tag, 0) + 1
        attrs = dict(attrs)
        self.ids += [attrs["id"]] if "id" in attrs else []
        self.links += [attrs["href"]] if "href" in attrs else []
        if tag not in VOID: self.open.append(tag)

    def handle_startendtag(self, tag, attrs): self.tags[tag] = self.tags.get(tag, 0) + 1
    def handle_endtag(self, tag): assert self.open.pop() == tag


def traced(f, *specs, name="f"): return Traced(f, specs, lambda xs: (xs, {}), name).small


def chain(count, scopes=False):
    graph = Graph("chain")
    x = first = graph.input((8,), np.dtype("float32"))
    for k in range(count):
        title = f"block_{k // 25}/{'even' if k % 25 < 12 else 'odd'}/tanh" if scopes else "tanh"
        name, inputs = ("add", (x, first)) if k % 7 == 0 else ("tanh", (x,))
        x = graph.add("op", name, inputs, specs=[((8,), x.dtype)], title=title).outputs[0]
    graph.outputs = [x]
    return graph


def step():
    w = tf.Variable(tf.ones((3, 2)), name="w")
    def f(x):
        with tf.GradientTape() as tape: loss = tf.reduce_sum(tf.tanh(x @ w) ** 2)
        w.assign_sub(.1 * tape.gradient(loss, w))
        return loss
    return traced(f, tf.TensorSpec((4, 3)), name="step")


@pytest.mark.parametrize("graph", [
    lambda: Graph("empty"), step, lambda: chain(3), lambda: chain(500), lambda: chain(500, True), lambda: chain(2500)])
def test_links_lead_to_something_and_ids_are_unique(graph):
    page = Page(view(graph()).html)
    assert len(set(page.ids)) == len(page.ids)
    assert {link.removeprefix("#") for link in page.links} <= set(page.ids)
    assert not page.tags.keys() & {"script", "link", "img", "style", "iframe"}


def test_every_node_is_told_with_its_line():
    graph = step()
    html = view(graph).html
    for node in graph.nodes: assert f"<code>{node.name} = " in html
    assert "w.assign_sub(.1 * tape.gradient(loss, w))" in html and "test_viewer.py, line" in html and "changes the variable w" in html
    assert "/test_viewer.py" not in html


def test_same_graph_same_text():
    assert view(step()).html == view(step()).html
    assert " at 0x" not in view(step()).html


def test_large_graphs_are_folded_and_quick():
    start = time.process_time()
    page = Page(view(chain(500)).html)
    assert time.process_time() - start < 20
    assert page.tags["svg"] == 14 and page.tags["details"] == 15


def test_folding_keeps_order_and_size():
    graph = chain(500, True)
    def check(items):
        assert len(items) <= 40
        for item in items:
            if isinstance(item, Part): check(item.items)
    items = folded(graph.nodes)
    check(items)
    assert [n for item in items for n in members(item)] == graph.nodes
    assert "block_3" in view(graph).html


def test_a_long_arrow_is_cut_once_for_each_layer():
    from tfedu.program.viewer import Box
    boxes = {n: Box([n], "#000", "", "#") for n in "abcdefg"}
    edges = [(m, n, "") for m, n in zip("abcdef", "bcdefg", strict=True)] + [("a", "g", "x"), ("a", "g", "y")]
    found, short = cut(boxes, edges)
    assert len(found) == 8 and found["again", "a", 6].lines == ["\N{UPWARDS ARROW} a"]
    assert ("a", "g", "x") not in short


def test_names_are_escaped():
    graph = Graph("<b>")
    x = graph.input((2,), np.dtype("float32"), name="a<i>\"'&")
    graph.outputs = [graph.add("op", "tanh", (x,), specs=[((2,), x.dtype)], title="<script>").outputs[0]]
    page = Page(view(graph).html)
    assert "script" not in page.tags and "i" not in page.tags and "b" not in page.tags


def test_what_a_pass_changed():
    before = traced(lambda x: tf.exp(x * 1.) + tf.exp(x * 1.), tf.TensorSpec((3,)))
    after = prune(merge(simplify(before)))
    marks = difference(before, after)
    assert not any(id(n) in marks for n in set(before.nodes) & set(after.nodes))
    assert {marks[id(n)] for n in set(before.nodes) - set(after.nodes)} == {"removed", "changed"}
    html = compare(before, after).html
    Page(html)
    assert html.count("<svg") == 2 and "\N{MINUS SIGN} multiply" in html
    assert "0 added, 0 removed, 0 changed" in compare(before, before).title


def test_texts():
    x = Graph().input((None, 3), np.dtype("int64"))
    assert type_text(x) == "int64 (?, 3)"
    assert type_text(Graph().input(None, np.dtype("int64"))) == "int64 unknown shape"
    assert type_text(Graph().input((), np.dtype("bool"))) == "bool scalar"
    assert setting_text([None, -1, "a", {"k": tf.float32}, slice(1, None, 2), x]) == "[None, -1, 'a', {k: float32}, 1::2, x:0]"


def test_a_page_of_its_own(tmp_path):
    view(step()).save(tmp_path / "a.html")
    text = (tmp_path / "a.html").read_text(encoding="utf-8")
    Page(text)
    assert text.startswith("<!doctype html>") and "http" not in text.replace("http://www.w3.org/2000/svg", "")


def test_graphs_inside_a_node_are_shown_folded():
    class Block:
        def __init__(self, graph): self.small = graph
    class Branches:
        def __init__(self, *graphs): self.__name__, self.blocks = "cond", [Block(graph) for graph in graphs]
    yes, no = chain(3), chain(2)
    yes.name, no.name = "yes", "no"
    graph = Graph("choice")
    x = graph.input((8,), np.dtype("float32"))
    graph.outputs = [graph.add("branch", Branches(yes, no), (x,), specs=[((8,), x.dtype)], title="cond").outputs[0]]
    page = Page(html := view(graph).html)
    assert "inside cond: yes" in html and "inside cond: no" in html and page.tags["svg"] == 3
    assert len(set(page.ids)) == len(page.ids) and {link.removeprefix("#") for link in page.links} <= set(page.ids)

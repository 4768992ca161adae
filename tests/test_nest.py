"""Nests: round trips through every kind of structure, differences with their places, depth, and composites."""
import collections
import types
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfedu as tf
from tfedu.core.nest import KINDS

nest = tf.nest
Point = collections.namedtuple("Point", "x y")
leaves = st.one_of(st.none(), st.integers(), st.text(max_size=3), st.binary(max_size=3), st.booleans())


def structures(children):
    "Lists, tuples, dictionaries of all kinds, named tuples."
    table = st.dictionaries(st.sampled_from("abcde"), children, max_size=3)
    return st.one_of(st.lists(children, max_size=3), st.lists(children, max_size=3).map(tuple), table,
                     table.map(lambda d: collections.OrderedDict(reversed(d.items()))),
                     table.map(lambda d: collections.defaultdict(list, d)), st.builds(Point, children, children),
                     st.lists(children, max_size=2).map(collections.deque))


nests = st.recursive(leaves, structures, max_leaves=12)


def reference(x):
    "Flattening as one would write it first."
    if isinstance(x, dict): x = [x[key] for key in sorted(x)]
    return [leaf for part in x for leaf in reference(part)] if isinstance(x, list | tuple | collections.deque) else [x]


def same(a, b):
    "Equal in value, in types and in the order of keys."
    if type(a) is not type(b): return False
    if isinstance(a, dict): return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list | tuple | collections.deque): return len(a) == len(b) and all(map(same, a, b))
    return a == b


@given(nests)
def test_round_trip(x):
    flat = nest.flatten(x)
    assert flat == reference(x) and same(nest.pack_sequence_as(x, flat), x) and same(nest.map_structure(lambda leaf: leaf, x), x)
    nest.assert_same_structure(x, nest.pack_sequence_as(x, range(len(flat))))
    assert nest.flatten(nest.pack_sequence_as(x, range(len(flat)))) == list(range(len(flat)))
    assert nest.is_nested(x) == isinstance(x, list | tuple | dict | collections.deque)


@given(nests, nests)
def test_comparing_finds_a_difference_if_there_is_one(a, b):
    def form(x): return nest.map_structure(lambda _: 0, x)
    same_form, found = reveal(form(a)) == reveal(form(b)), None
    try: nest.assert_same_structure(a, b)
    except (TypeError, ValueError) as error: found = error
    assert (found is None) == same_form
    if found: assert "differ at" in str(found)


def reveal(x):
    "A nest of zeros with all dictionaries alike."
    if isinstance(x, dict): return "dict", [(k, reveal(x[k])) for k in sorted(x)]
    return (type(x).__name__, [reveal(part) for part in x]) if isinstance(x, list | tuple | collections.deque) else 0


@given(nests)
def test_several_nests_at_once(x):
    doubled = nest.map_structure(lambda a, b: (a, b), x, x)
    assert nest.flatten(doubled) == [leaf for original in nest.flatten(x) for leaf in (original, original)]


def test_depth_is_no_limit():
    deep = leaf = object()
    for i in range(50_000): deep = [deep] if i % 2 else {"k": deep}
    assert nest.flatten(deep) == [leaf]
    other = nest.pack_sequence_as(deep, [7])
    assert nest.flatten(other) == [7]
    nest.assert_same_structure(deep, other)
    for tower in (deep, other):   # taken down by hand: CPython's own deallocation and comparison of such a tower may recurse
        while isinstance(tower, list | dict): tower = tower.pop() if isinstance(tower, list) else tower.popitem()[1]


@pytest.mark.parametrize("a, b, error, words", [
    ([1, [2, 3]], [1, (2, 3)], TypeError, "nest[1]: types list and tuple"),
    ({"a": [1, {"b": 2}]}, {"a": [1, {"c": 2}]}, ValueError, "nest['a'][1]: keys ['b'] and ['c']"),
    ([1, 2], [1], ValueError, "the top: 2 and 1 parts"),
    (Point(1, [2]), Point(1, 2), ValueError, "nest.y: only one of them is a structure"),
    ([1, [[2]], [[3]]], [1, [2], [3]], ValueError, "nest[1][0]"),
    (1, [1], ValueError, "the top"), ({"a": 1}, ["a"], TypeError, "types dict and list")])
def test_differences_name_their_place(a, b, error, words):
    with pytest.raises(error) as caught: nest.assert_same_structure(a, b)
    assert words in str(caught.value) and repr(a)[:20] in str(caught.value) or "nest" in words
    with pytest.raises(error): nest.map_structure(lambda x, y: x, a, b)


def test_large_structures_are_not_quoted_in_full():
    with pytest.raises(ValueError) as caught: nest.assert_same_structure(list(range(10_000)), [1])
    assert len(str(caught.value)) < 500


def test_bad_calls():
    with pytest.raises(TypeError, match="callable"): nest.map_structure(3, [1])
    with pytest.raises(ValueError, match="at least one"): nest.map_structure(len)
    with pytest.raises(ValueError, match="check_types.*foo"): nest.map_structure(len, [1], foo=1)
    with pytest.raises(TypeError, match="sortable"): nest.flatten({1: 0, "a": 0})
    for flat in (5, "ab", {"a": 1, "b": 2}, np.ones(2), None):
        with pytest.raises(TypeError, match="flat_sequence"): nest.pack_sequence_as([0, 0], flat)
    for structure, flat in (([0, 0], [1]), ([0], [1, 2]), (0, [1, 2]), (0, []), ([], [1])):
        with pytest.raises(ValueError, match="leaves"): nest.pack_sequence_as(structure, flat)


def test_errors_of_the_function_come_through():
    with pytest.raises(ZeroDivisionError): nest.map_structure(lambda x: 1 / x, {"a": 0})


def test_what_cannot_be_built_again():
    assert nest.pack_sequence_as(range(2), [5, 6]) == [5, 6] and nest.pack_sequence_as({"a": 1}.values(), [5]) == [5]
    proxy = nest.pack_sequence_as(types.MappingProxyType({"b": 1, "a": 2}), [3, 4])
    assert type(proxy) is types.MappingProxyType and dict(proxy) == {"b": 4, "a": 3}
    factory = nest.map_structure(str, collections.defaultdict(list, a=1))
    assert factory == {"a": "1"} and factory["new"] == []


def test_leaves():
    @dataclass
    class Data: x: list
    array, shape, data = np.ones(3), tf.TensorShape([1, 2]), Data([1, 2])
    for leaf in (array, shape, data, "text", b"bytes", None, {1, 2}, frozenset(), tf.float32, len, 3.0, iter([1])):
        assert nest.flatten(leaf) == [leaf] if leaf is not array else nest.flatten(leaf)[0] is array
        assert not nest.is_nested(leaf) and nest.map_structure(lambda x: x, leaf) is leaf


def test_attrs_classes():
    class Field:
        def __init__(self, name): self.name = name
    class Pair:   # what the attrs library leaves on a class
        __attrs_attrs__ = Field("second"), Field("first")
        def __init__(self, second, first): self.second, self.first = second, first
    again = nest.map_structure(lambda x: x + 1, Pair([1], 2))
    assert nest.flatten(Pair([1], 2)) == [1, 2] and (again.second, again.first) == ([2], 3)
    with pytest.raises(ValueError, match=r"nest\.second"): nest.assert_same_structure(Pair([1], 2), Pair(1, 2))


class Spec:
    def __init__(self, n): self.n = n
    def most_specific_compatible_type(self, other):
        if self.n != other.n: raise ValueError
        return self
    def __flatten__(self): return ["a spec"] * self.n
    def __unflatten__(self, parts): return Box(*parts)


class Box:
    "A composite: what a ragged or sparse tensor will look like to nests."
    def __init__(self, *parts): self.parts = parts
    _type_spec = property(lambda self: Spec(len(self.parts)))
    def __flatten__(self): return self.parts
    def __unflatten__(self, parts): return Box(*parts)


def test_composites():
    x = {"b": Box(1, Box(2, 3)), "a": 0}
    assert nest.flatten(x) == [0, x["b"]] and nest.flatten(x, expand_composites=True) == [0, 1, 2, 3]
    again = nest.map_structure(lambda leaf: 10 * leaf, x, expand_composites=True)["b"]
    assert (again.parts[0], again.parts[1].parts) == (10, (20, 30)) and not nest.is_nested(Box(1))
    nest.assert_same_structure(x, {"b": 5, "a": 6})
    with pytest.raises(ValueError, match=r"nest\['b'\]"): nest.assert_same_structure(x, {"b": 5, "a": 6}, expand_composites=True)


def test_composites_are_compared_by_their_specs():
    nest.assert_same_structure([Box(1, 2)], [Spec(2)], expand_composites=True)
    nest.assert_same_structure([Box(1, 2)], [Box([3], 4)], expand_composites=True)
    with pytest.raises(ValueError, match=r"nest\[0\]: specs"): nest.assert_same_structure([Box(1, 2)], [Box(3)], expand_composites=True)
    assert nest.pack_sequence_as([Spec(2)], [5, 6], expand_composites=True)[0].parts == (5, 6)


def test_classes_are_looked_at_once():
    class Fresh(list): pass
    nest.flatten(Fresh([1]))
    assert Fresh in KINDS[0] and KINDS[0][Fresh] is KINDS[0][list]
    del KINDS[0][Fresh]

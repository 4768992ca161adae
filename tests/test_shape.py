"""TensorShape's algebra, specs, broadcasting with open sizes, and shape rules."""
import copy
import inspect
import pickle
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfedu as tf
from tfedu.core.shape import Signature, as_shape, broadcast, shape_of, spec_from_value

T, S = tf.TensorShape, tf.TensorSpec
sizes = st.one_of(st.none(), st.integers(0, 4))
known_rank = st.lists(sizes, max_size=4).map(T)
few_axes = st.lists(sizes, max_size=2).map(T)
shapes = st.one_of(known_rank, st.just(T(None)))


def fillings(shape, numbers=range(5)):
    "Every full shape that `shape` may turn out to be, with sizes from `numbers`."
    return set(product(*[numbers if d is None else (d,) for d in shape]))


def outcome(f):
    try: return f()
    except (ValueError, tf.errors.InvalidArgumentError) as error: return type(error)


@given(shapes)
def test_round_trips(shape):
    assert T(shape) == as_shape(shape) == shape == T(shape.as_proto()) == T(shape.dims) and as_shape(shape) is shape
    assert eval(repr(shape), {"TensorShape": T}) == shape and hash(T(shape.dims)) == hash(shape)
    for again in (copy.copy(shape), copy.deepcopy(shape), pickle.loads(pickle.dumps(shape))):
        assert again == shape and type(again) is T
    if shape: assert shape == tuple(shape) and list(shape) == shape.as_list() and len(shape) == shape.rank == shape.ndims


@given(shapes, shapes)
def test_merging_is_commutative_and_adds_knowledge(a, b):
    merged = outcome(lambda: a.merge_with(b))
    assert merged == outcome(lambda: b.merge_with(a)) and (merged is not ValueError) == a.is_compatible_with(b) == b.is_compatible_with(a)
    if merged is ValueError: return
    assert merged.is_compatible_with(a) and merged.is_compatible_with(b) and merged.merge_with(a) == merged
    if a and b: assert fillings(merged) == fillings(a) & fillings(b)


@given(shapes, shapes, shapes)
def test_merging_is_associative(a, b, c):
    first = outcome(lambda: a.merge_with(b).merge_with(c))
    assert first == outcome(lambda: a.merge_with(b.merge_with(c)))


@given(shapes, shapes)
def test_generalising_is_commutative_and_admits_both(a, b):
    general = a.most_specific_compatible_shape(b)
    assert general == b.most_specific_compatible_shape(a) and general.is_compatible_with(a) and general.is_compatible_with(b)
    assert general.merge_with(a) == a and general.merge_with(b) == b and a.most_specific_compatible_shape(a) == a


@given(shapes, shapes, shapes)
def test_concatenation(a, b, c):
    assert (a + b) + c == a + (b + c) and a + [] == a == [] + a
    if a and b: assert (a + b).as_list() == a.as_list() + b.as_list() == (a.as_list() + b).as_list()
    else: assert (a + b).rank is None


@given(known_rank, st.slices(5))
def test_slices_are_those_of_tuples(shape, key):
    assert isinstance(shape[key], T) and shape[key] == tuple(shape)[key]


@given(known_rank, st.integers(0, 5))
def test_ranks(shape, rank):
    assert (outcome(lambda: shape.with_rank(rank)) is shape) == (shape.rank == rank)
    assert (outcome(lambda: shape.with_rank_at_least(rank)) is shape) == (shape.rank >= rank)
    assert (outcome(lambda: shape.with_rank_at_most(rank)) is shape) == (shape.rank <= rank)
    assert (outcome(lambda: shape.assert_has_rank(rank)) is None) == (shape.rank == rank)
    assert T(None).with_rank(rank) == [None] * rank


@given(known_rank)
def test_number_of_elements(shape):
    if shape.is_fully_defined(): assert shape.num_elements() == np.prod(shape.as_list(), dtype=int)
    else: assert shape.num_elements() is None


@given(few_axes, few_axes)
def test_broadcasting_promises_what_numpy_does(a, b):
    "What is promised holds for every filling, and whatever all fillings agree on is promised."
    results = {np.broadcast_shapes(x, y) for x in fillings(a, (0, 1, 3)) for y in fillings(b, (0, 1, 3)) if fits(x, y)}
    promise = outcome(lambda: broadcast(a, b))
    assert promise == outcome(lambda: broadcast(b, a))
    if promise is ValueError: assert not results
    else:
        assert results and all(promise.is_compatible_with(r) for r in results)
        assert promise.as_list() == [column.pop() if len(column := set(c)) == 1 else None for c in zip(*results)]


def fits(x, y): return all(m == n or 1 in (m, n) for m, n in zip(x[::-1], y[::-1]))


def test_broadcasting_unknown_ranks():
    assert broadcast(None, [3]).rank is broadcast([3], None).rank is broadcast(None, None).rank is None
    with pytest.raises(ValueError, match=r"\(2, 3\) and \(4,\).*4"): broadcast([2, 3], [4])


@pytest.mark.parametrize("wrong, error", [
    (-1, ValueError), ([2, -1], ValueError), ([2.5], TypeError), ("ab", TypeError), ([[1]], TypeError), ([None, "x"], TypeError),
    (2.0, TypeError), ({"a": 1}, TypeError), (tf.float32, TypeError)])
def test_what_is_no_shape(wrong, error):
    with pytest.raises(error, match="TensorShape"): T(wrong)
    assert T([2]) != wrong


def test_sizes_become_ints():
    shape = T([np.int64(2), np.uint8(3), True])
    assert [type(d) for d in shape] == [int, int, int] and str(shape) == "(2, 3, 1)"


def test_errors_name_the_shape():
    for f in (lambda: T([2]).with_rank(3), lambda: T([2]).assert_same_rank([3, 4]), lambda: T([2]).merge_with([3]),
              lambda: T([2]).assert_is_compatible_with([3]), lambda: T([2]).with_rank_at_least(4), lambda: T([2]).with_rank_at_most(0)):
        with pytest.raises(ValueError, match=r"\(2,\)"): f()
    for f in (len, list, T.as_list):
        with pytest.raises(ValueError, match="unknown rank"): f(T(None))


def test_numpy_takes_shapes():
    shape = T([2, 3])
    assert np.zeros(shape).shape == np.arange(6).reshape(shape).shape == (2, 3) and np.array(shape).tolist() == [2, 3]


def test_trusted_shapes_are_ordinary_shapes():
    assert shape_of((2, None)) == T([2, None]) and type(shape_of(())) is T and shape_of(None).rank is None


@given(shapes, shapes)
def test_specs_follow_their_shapes(a, b):
    p, q = S(a, tf.int32), S(b, tf.int32, name="q")
    assert p.is_compatible_with(q) == a.is_compatible_with(b) and (p == S(b, "int32")) == (a == b)
    assert not p.is_compatible_with(S(b, tf.int64)) and p != q
    assert p.most_specific_compatible_type(S(b, tf.int32)).shape == a.most_specific_compatible_shape(b)


def test_specs():
    spec = S([2, None], name="x")
    assert repr(spec) == "TensorSpec(shape=(2, None), dtype=tf.float32, name='x')" and isinstance(spec, tf.TypeSpec)
    assert S.from_spec(spec) == spec and S.from_spec(spec, "y").name == "y" and hash(S.from_spec(spec)) == hash(spec)
    assert pickle.loads(pickle.dumps(spec)) == copy.deepcopy(spec) == spec
    assert spec.is_compatible_with(np.zeros((2, 5), np.float32)) and not spec.is_compatible_with(np.zeros((2, 5)))
    assert S.from_tensor(np.zeros(3), "z") == S([3], tf.float64, "z") and spec_from_value(spec) is spec
    with pytest.raises(TypeError, match="list"): spec.is_compatible_with([1.0])
    with pytest.raises(ValueError, match="float32.*int32"): spec.most_specific_compatible_type(S([2, None], tf.int32, "x"))
    with pytest.raises(ValueError, match="no spec"): spec.most_specific_compatible_type(tf.float32)
    assert list(inspect.signature(S).parameters) == ["shape", "dtype", "name"]


class PairSpec(tf.TypeSpec):
    "A spec of two others, as a user may define one."
    def __init__(self, first, second, size=None, options=None): self.parts = first, second, size, options
    def _serialize(self): return self.parts


def test_a_users_own_spec():
    a, b = PairSpec(S([2]), [T([3]), tf.int32], 5, {"k": T([1])}), PairSpec(S([4]), [T([6]), tf.int32], 5, {"k": T([2])})
    assert a != b and a == PairSpec(*a.parts) and "PairSpec" in repr(a)
    both = a.most_specific_compatible_type(b)
    assert both == PairSpec(S([None]), [T([None]), tf.int32], 5, {"k": T([None])})
    assert both.is_compatible_with(a) and not a.is_compatible_with(b)
    assert not both.is_compatible_with(S([2])) and not both.is_compatible_with(PairSpec(S([2]), [T([3])], 5, {"k": T([1])}))
    for other in (PairSpec(S([2]), [T([3]), tf.int32], 6, {"k": T([1])}), PairSpec(S([2]), [T([3]), tf.int64], 5, {"k": T([1])}), S([2])):
        with pytest.raises(ValueError, match="no spec"): a.most_specific_compatible_type(other)
    with pytest.raises(NotImplementedError, match="_serialize"): tf.TypeSpec().is_compatible_with(tf.TypeSpec())


RULES = ["(m,k),(k,n)->(m,n)", "()->()", "(),()->()", "(n)->()", "(n),(n)->()", "(3),(3)->(3)", "(m,n)->(n),(m,n),()", "(n,n),(n,k)->(n,k)"]


@pytest.mark.parametrize("text", RULES)
def test_rules_accept_their_own_examples(text):
    rule = Signature(text)
    examples = rule.example_shapes()
    results = rule.outputs("op", examples)
    assert len(results) == len(rule.results) and all(r.is_fully_defined() for r in results)
    batched = rule.outputs("op", rule.example_shapes(batches=[(5, 1), (4,)][:len(examples)]))
    front = (5, 4) if len(examples) == 2 else (5, 1)
    assert all(b == T(front) + r for b, r in zip(batched, results))
    assert all(r.rank is None for r in rule.outputs("op", [None] * len(examples)))


@given(st.lists(st.integers(0, 3), max_size=2), st.lists(st.integers(0, 3), max_size=2), st.data())
def test_matmul_as_numpy(x_batch, y_batch, data):
    x, y = (*x_batch, *data.draw(st.tuples(*[st.integers(1, 3)] * 2))), (*y_batch, *data.draw(st.tuples(*[st.integers(1, 3)] * 2)))
    rule, ours = Signature(RULES[0]), outcome(lambda: Signature(RULES[0]).outputs("matmul", [x, y])[0])
    try: theirs = np.matmul(np.empty(x), np.empty(y)).shape
    except ValueError: theirs = tf.errors.InvalidArgumentError
    assert ours == theirs
    if theirs is tf.errors.InvalidArgumentError: return
    hidden = [tuple(None if data.draw(st.booleans()) else d for d in s) for s in (x, y)]
    assert rule.outputs("matmul", hidden)[0].is_compatible_with(theirs)


def test_letters_learn_from_any_argument():
    rule = Signature("(m,k),(k,n)->(m,n),(k)")
    assert rule.outputs("op", [(2, None), (3, None)]) == ((2, None), (3,))
    assert Signature("()->(depth)").outputs("one_hot", [(4,)], depth=3) == ((4, 3),)
    assert Signature("->(n)").outputs("range", [], n=3) == ((3,),) and Signature("->(n)").outputs("range", []) == ((None,),)


@pytest.mark.parametrize("rule, shapes, words", [
    (RULES[0], [(2, 3), (4, 5)], "matmul: dimension k is 3 in argument 1 of shape (2, 3) and 4 in argument 2 of shape (4, 5)"),
    (RULES[0], [(3,), (3, 4)], "argument 1 must have at least 2 axes (m,k), got shape (3,)"),
    (RULES[0], [(2, 2, 3), (5, 3, 4)], "batch axes (5,) of argument 2 do not broadcast with (2,)"),
    (RULES[0], [(2, 3)], "takes 2 arguments, got 1"),
    (RULES[5], [(3,), (4,)], "dimension 3 is 3 in the rule and 4 in argument 2 of shape (4,)"),
    (RULES[7], [(2, 3), (2, 1)], "dimension n is 2 in argument 1 of shape (2, 3) and 3 in argument 1")])
def test_rules_complain_in_full(rule, shapes, words):
    with pytest.raises(tf.errors.InvalidArgumentError) as caught: Signature(rule).outputs("matmul", shapes)
    assert words in caught.value.message and caught.value.message.startswith("matmul: ")


def test_sizes_given_by_name_are_checked_too():
    with pytest.raises(tf.errors.InvalidArgumentError, match="n is 4 in the call and 3 in argument 1"):
        Signature("(n)->(n)").outputs("op", [(3,)], n=4)


@pytest.mark.parametrize("text", ["", "(m,k)", "(m,k)->", "(m,)->(m)", "m->n", "(m))->(m)", "(m)->(m),", "((m))->(m)", "(m-1)->(m)"])
def test_what_is_no_rule(text):
    with pytest.raises(ValueError, match="Signature"): Signature(text)


def test_spaces_mean_nothing():
    assert Signature("( m, k ) , (k, n) -> (m, n)").text == RULES[0]


def test_examples():
    rule = Signature("(m,k),(k,3)->(m)")
    assert rule.example_shapes() == [(2, 3), (3, 3)] and rule.example_shapes({"k": 0}) == [(2, 0), (0, 3)]
    assert rule.example_shapes({}, [(7,), ()]) == [(7, 2, 3), (3, 3)] and repr(rule) == "Signature('(m,k),(k,3)->(m)')"
    with pytest.raises(ValueError): rule.example_shapes(batches=[()])

"""The exceptions of tf.errors: codes, classes, text, and travel between processes."""
import copy
import inspect
import pickle

import pytest

import tfedu as tf
from tfedu.core.errors import CODES, KINDS, error_from_code

ARGUMENTS = {"node_def": None, "op": None, "message": "why"}
every = pytest.mark.parametrize("kind", [KINDS[code] for code in sorted(KINDS)], ids=lambda kind: kind.__name__)


def test_every_code_but_ok_has_a_kind():
    assert sorted(KINDS) == [getattr(tf.errors, name) for name in CODES if name != "OK"] == list(range(1, 17))
    assert all(getattr(tf.errors, kind.__name__) is kind for kind in KINDS.values())


@every
def test_a_kind_fixes_its_code(kind):
    error = kind(**ARGUMENTS)
    assert isinstance(error, tf.errors.OpError) and isinstance(error, Exception)
    assert (error.error_code, error.message, error.op, error.node_def, str(error)) == (kind.code, "why", None, None, "why")
    assert list(inspect.signature(kind).parameters)[:3] == ["node_def", "op", "message"]


@every
def test_a_kind_is_caught_by_its_own_name_alone(kind):
    others = tuple(k for k in KINDS.values() if k is not kind)
    with pytest.raises(kind):
        try: raise kind(None, None, "why")
        except others: pytest.fail("caught as something else")


@every
@pytest.mark.parametrize("travel", [copy.copy, copy.deepcopy, *(lambda e, p=p: pickle.loads(pickle.dumps(e, p)) for p in range(2, 6))])
def test_errors_travel_whole(kind, travel):
    there = travel(kind(**ARGUMENTS))
    assert type(there) is kind and (there.message, there.error_code, str(there)) == ("why", kind.code, "why")


def test_the_number_of_an_unknown_error_travels_too():
    error = pickle.loads(pickle.dumps(tf.errors.UnknownError(None, None, "odd", 99)))
    assert (type(error), error.error_code, error.message) == (tf.errors.UnknownError, 99, "odd")
    assert pickle.loads(pickle.dumps(tf.errors.OpError(None, None, "bare", 3))).error_code == 3


def test_text_names_the_graph_node():
    class Node: name = "dense/MatMul"
    for error in (tf.errors.InternalError(None, Node(), "why"), tf.errors.InternalError(Node(), None, "why")):
        assert error.message == "why" and str(error).startswith("why") and "dense/MatMul" in str(error)


@pytest.mark.parametrize("code", [*range(1, 17), 0, 17, 99, -1])
def test_a_code_from_elsewhere_is_never_lost(code):
    error = error_from_code(code, "text")
    assert error.error_code == code and error.message == "text"
    assert type(error) is KINDS.get(code, tf.errors.UnknownError)


def test_operators_in_graphs_are_type_errors():
    error = tf.errors.OperatorNotAllowedInGraphError("no bool")
    assert isinstance(error, TypeError) and not isinstance(error, tf.errors.OpError) and str(error) == "no bool"


@pytest.mark.parametrize("name", sorted(kind.__name__ for kind in KINDS.values()))
def test_every_kind_is_raised_caught_and_read(name, record_property):
    record_property("called", f"tf.errors.{name}")
    kind = getattr(tf.errors, name)
    with pytest.raises(tf.errors.OpError, match="what happened") as caught: raise kind(None, None, "what happened")
    assert type(caught.value) is kind and caught.value.message == "what happened"
    assert KINDS[caught.value.error_code] is kind

"""Names that are missing on purpose: each has a reason, which whoever touches it gets to read."""
from functools import reduce

import pytest

import tfedu as tf
from tfedu.core.left_out import LEFT_OUT, leave_out, why_missing
from tfedu.core.publish import PUBLIC


def test_nothing_is_both_there_and_left_out(root):
    import names
    names.generated(root)   # imports every module
    assert not PUBLIC.keys() & LEFT_OUT.keys()


@pytest.mark.parametrize("name", sorted(LEFT_OUT))
def test_touching_a_name_says_why_it_is_missing(name):
    with pytest.raises(AttributeError) as caught: reduce(getattr, name.split(".")[1:], tf)
    said = str(caught.value)
    assert "is left out of tfedu: it " in said and name.startswith(said.split()[0])
    assert said.endswith(tuple(LEFT_OUT.values()))


def test_a_typing_error_is_no_left_out_name():
    assert why_missing("tf.strigns") is None and why_missing("tf.ma") is None
    with pytest.raises(AttributeError, match="no attribute 'strigns'"): tf.strigns
    assert not hasattr(tf, "Graph")


def test_a_name_is_left_out_once():
    with pytest.raises(ValueError, match="tf.Graph is left out already"): leave_out("is entered twice", "tf: Graph")
    assert LEFT_OUT["tf.Graph"] != "is entered twice"

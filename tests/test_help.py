"""What `help` shows: the docstring, and a line for each parameter with a comment. What merely reads a docstring gets the line alone."""
import copy
import inspect
import pickle
import pydoc

import tfedu as tf
from tfedu.core.docs import Doc, parameter_comments


def one(
    a, b=2,    # Both of them
               # (numbers)
    *rest,     # More
    key=None,  # Named only
) -> int:      # The sum
    "Adds."
    return a + b + sum(rest)  # not this


def bare(x): return x   # nor this


def test_comments_belong_to_their_lines():
    assert parameter_comments(one) == {"a, b": "Both of them (numbers)", "rest": "More", "key": "Named only", "returns": "The sum"}
    assert parameter_comments(bare) == {} and parameter_comments(len) == {}


def test_help_shows_parameters():
    shown = pydoc.plain(pydoc.render_doc(tf.linspace))
    assert "`num` equally spaced numbers" in shown and "start: First number, or a tensor of them" in shown and "num: How many" in shown
    assert "logits: one of float16, bfloat16, float32, float64" in inspect.getdoc(tf.nn.softmax)
    assert "axis: The axis whose shares add up to 1" in inspect.getdoc(tf.nn.softmax)


def test_a_docstring_is_a_plain_line_for_others():
    doc = tf.linspace.__doc__
    assert type(doc) is Doc and "\n" not in doc[:] and doc.startswith("`num`")
    assert type(pickle.loads(pickle.dumps(doc))) is str and copy.copy(doc) == doc
    assert str(doc) == inspect.getdoc(tf.linspace)


def test_every_public_function_can_be_shown():
    seen = 0
    for name in dir(tf.math) + dir(tf.nn) + dir(tf.linalg):
        for space in (tf.math, tf.nn, tf.linalg):
            item = getattr(space, name, None)
            if inspect.isfunction(item):
                assert inspect.getdoc(item).startswith(item.__doc__[:].strip()[:20]), name
                seen += 1
    assert seen > 250

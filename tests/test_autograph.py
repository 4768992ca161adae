"""Control flow on tensors: programs that real TensorFlow ran, what Python does with rewritten functions, and what users are told."""
import gzip
import json
import logging
import pathlib
import sys

import numpy as np
import pytest

import tfedu as tf
from tfedu.program.calls import for_graph, new_code
from tfedu.program.convert import MADE

GOLDEN = pathlib.Path(__file__).with_name("golden")
sys.path.insert(0, str(GOLDEN))
import autograph_programs as written  # noqa: E402

PROGRAMS = written.programs(tf)
RECORDED = json.loads(gzip.decompress((GOLDEN / "autograph.json.gz").read_bytes()))["cases"]


def same(found, expected):
    if "error" in expected or "error" in found: assert found == expected
    else:
        assert [t for _, t in found["y"]] == [t for _, t in expected["y"]]
        for (a, kind), (b, _) in zip(found["y"], expected["y"], strict=True):
            if kind == "string": assert a == b
            else: np.testing.assert_allclose(a, b, rtol=1e-5)
        for a, b in zip(found.get("g", ()), expected.get("g", ()), strict=True):
            if a is None or b is None: assert a is b
            else: np.testing.assert_allclose(a, b, rtol=1e-5)


@pytest.mark.parametrize("name", RECORDED)
def test_as_tensorflow(name):
    case = PROGRAMS[name]
    for given, expected in zip(case.calls, RECORDED[name], strict=True): same(written.outcome(tf, case, given), expected)


def test_enough_programs(): assert len(PROGRAMS) == len(RECORDED) >= 80


@pytest.mark.parametrize("name", PROGRAMS)
def test_rewritten_functions_do_the_same_without_a_graph(name):
    case = PROGRAMS[name]
    for given in case.calls: same(written.outcome(tf, case, given, tf.autograph.to_graph), written.outcome(tf, case, given, lambda f: f))


class Strict:
    "Python programs, one method each, with everything that is hard to rewrite."
    __hidden = 7

    def private(self, x):
        if x: return self.__hidden + x
        return self.__hidden

    def everything_after_a_jump(self, n):
        out = []
        for i in range(n):
            try:
                if i == 1: continue
                if i == 5: break
                if i == 3: raise KeyError(i)
            except KeyError as error: out.append(error.args)
            else: out.append(-i)
            finally: out.append(i)
        else: out.append("whole")
        return out

    def loop_else(self, n):
        while n:
            n -= 1
            if n == 4: break
        else: return "else"
        for i in range(n):
            if i == 9: return "nine"
        else: n += 1
        return n

    def walrus(self, n):
        if (y := n * 2) > 3 and (z := y) > 5: return y, z
        while (y := y - 1) > 0: n += y
        return y, n

    def closures_in_loops(self, n):
        late, early = [], []
        for i in range(n):
            late.append(lambda: i)   # noqa: B023
            early.append(lambda i=i: i)
        return [f() for f in late], [f() for f in early]

    def nonlocals(self, n):
        count = 0
        def add(k):
            nonlocal count
            if k % 2:
                count += k
                return count
            for _ in range(k): count -= 1
        results = [add(k) for k in range(n)]
        return results, count

    def globals_too(self, n):
        global REMEMBERED
        if n: REMEMBERED = n
        else: REMEMBERED = "none"
        return REMEMBERED

    def unbound(self, n):
        if n: x = 1
        return x

    def deletes(self, n):
        x = 1
        if n: del x
        return x

    def keywords(self, n, *args, k=3, **kw):
        if n: return n, args, k, kw
        return self.keywords(1, *args, k=4, **kw, z=n)

    def matches(self, n):
        match [n, n]:
            case [0, x]: return x
            case [a, b] if a > 3: out = a + b
            case _: out = None
        return out

    def annotated(self, n: int) -> list:
        if n: x: int = n
        else: x: str = "none"
        return [x]

    def evaluation_order(self, n):
        log = []
        def say(x):
            log.append(x)
            return x
        say(say(1) and say(0) and say(5) or say(n)), say(1) < say(n) < say(3) < say(9), say(2) if say(n) else say(4)
        return log

    def early_out_of_with(self, n):
        from contextlib import suppress
        with suppress(ZeroDivisionError):
            if n > 2: return 1 / (n - 3)
            n = 10
        return n

    def return_in_finally(self, n):
        try:
            if n: raise ValueError
        finally:
            if n: return "swallowed"   # noqa: B012
        return n

    def generator(self, n):
        def g():
            for i in range(n):
                if i % 2: yield i
        return list(g())

    def class_inside(self, n):
        class Inner:
            size = n
            def get(self):
                if n: return self.size
                return "none"
        return Inner().get()


REMEMBERED = None


@pytest.mark.parametrize("name", [n for n in vars(Strict) if not n.startswith("_")])
def test_python_stays_python(name):
    f = getattr(Strict(), name)
    for n in range(8):
        def run(f, n=n):
            try: return f(n)
            except (UnboundLocalError, ZeroDivisionError) as error: return type(error)
        assert run(for_graph(f)) == run(f)


def test_only_what_is_supported_is_rewritten():
    assert {n for n in vars(Strict) if not n.startswith("_") and isinstance(new_code(getattr(Strict, n)), str)} == {"return_in_finally"}


def test_a_function_is_rewritten_once():
    def f(x): return x if x > 0 else -x
    assert new_code(f) is new_code(f) and for_graph(f).__wrapped__.__code__ in MADE
    g = for_graph(f).__wrapped__
    assert for_graph(g) is g


def test_no_source_is_told(caplog):
    space = {"__name__": "somewhere"}
    exec("def f(x):\n    return x", space)
    with caplog.at_level(logging.WARNING, "tfedu"): assert int(tf.function(space["f"])(tf.constant(3))) == 3
    assert "AutoGraph could not transform" in caplog.text and "do_not_convert" in caplog.text
    with pytest.raises(ValueError, match="cannot rewrite"): tf.autograph.to_graph(space["f"])
    with pytest.raises(ValueError, match="not a function"): tf.autograph.to_code(len)


def test_an_error_names_the_users_line():
    def inner(x):
        y = x + 1
        if x > 0: y = y.nothing
        return y
    @tf.function
    def outer(x): return inner(x)
    with pytest.raises(AttributeError) as caught: outer(tf.constant(1))
    note = caught.value.__notes__[0]
    assert __file__ in note and "if x > 0: y = y.nothing" in note and "inner" in note
    assert f"line {inner.__code__.co_firstlineno + 2}" in note


def test_a_node_knows_the_users_line():
    def f(x):
        if x > 0: return tf.exp(x)
        return x
    outer = tf.function(f).get_concrete_function(tf.constant(1.0))
    assert {n.place.number - f.__code__.co_firstlineno for n in outer.graph.nodes if n.kind != "input"} <= {0, 1, 2}


def test_the_number_of_rounds_is_limited():
    @tf.function
    def f(n):
        i = 0
        while i < n:
            tf.autograph.experimental.set_loop_options(maximum_iterations=3)
            i += 1
        return i
    assert [int(f(tf.constant(n))) for n in (2, 10)] == [2, 3]


def test_an_object_says_how_it_is_gone_through():
    class Halves:
        def __init__(self, n): self.n = n
        def __steps__(self): return self.n, lambda n: n > 0, lambda n: (n, n // 2)
    @tf.function
    def f(n):
        s = 0
        for k in Halves(n):
            if k == 1: break
            s += k
        return s
    assert int(f(tf.constant(20))) == 37


def test_enumerate_and_zip():
    @tf.function
    def f(x, y):
        s = 0
        for i, v in enumerate(x): s += i * v
        for a, b in zip(x, y): s += 100 * a * b
        return s
    assert int(f(tf.constant([1, 2, 3]), tf.constant([1, 1]))) == 8 + 300


def test_assert_waits_for_the_numbers():
    @tf.function
    def f(x):
        assert x > 5, "too small"
        return x
    assert int(f(tf.constant(7))) == 7
    with pytest.raises(tf.errors.InvalidArgumentError, match="too small"): f(tf.constant(3))


def test_a_loop_else_in_the_graph():
    @tf.function
    def f(n):
        i = 0
        while i < n:
            i += 1
            if i == 3: break
        else: i = -i
        return i
    assert [int(f(tf.constant(n))) for n in (2, 5)] == [-2, 3]


def test_several_lambdas_on_a_line():
    pair = [lambda x: x if x > 0 else -x, lambda x: -x if x > 0 else x]
    assert [int(tf.function(f)(tf.constant(3))) for f in pair] == [3, -3]


def test_left_alone():
    @tf.autograph.experimental.do_not_convert
    def f(x): return 1 if x > 0 else 2
    with pytest.raises(TypeError, match="not allowed in a graph"): tf.function(lambda x: f(x))(tf.constant(1))
    with pytest.raises(TypeError, match="not allowed in a graph"): tf.function(lambda x: 1 if x > 0 else 2, autograph=False)(tf.constant(1))
    assert tf.autograph.experimental.do_not_convert()(f)(3) == 1


def test_not_recursive():
    def inner(x): return 1 if x > 0 else 2
    def outer(x): return inner(x)
    f = tf.function(tf.autograph.to_graph(outer, recursive=False), autograph=False)
    with pytest.raises(TypeError, match="not allowed in a graph"): f(tf.constant(1))


def test_code_can_be_read():
    def f(x):
        if x > 0: y = x
        else: y = -x
        return y
    text = tf.autograph.to_code(f)
    assert "ag.branch(x > 0, then, otherwise, names=('y',))" in text and text == tf.autograph.to_code(tf.function(f))


def test_it_says_what_it_does(capsys, monkeypatch):
    from tfedu.program.calls import VERBOSITY
    monkeypatch.setitem(VERBOSITY, "level", 0)
    monkeypatch.setitem(VERBOSITY, "stdout", False)
    tf.autograph.set_verbosity(1, True)
    tf.autograph.trace("now", 3)
    def f(x): return 5 if x > 0 else x
    assert int(tf.function(f)(tf.constant(1))) == 5
    assert "now 3" in (said := capsys.readouterr().out) and "ag.choose" in said


def test_print_waits_for_the_numbers_when_asked_to(capsys):
    def f(x):
        if x > 0: print("positive", x, sep=":")
        return x
    f = tf.function(f, experimental_autograph_options=tf.autograph.experimental.Feature.BUILTIN_FUNCTIONS)
    for n in (3, -3, 4): f(tf.constant(n))
    assert capsys.readouterr().out == "positive:3\npositive:4\n"


def test_print_prints_while_tracing(capsys):
    @tf.function
    def f(x):
        print("tracing")
        return x
    f(tf.constant(1)), f(tf.constant(2))
    assert capsys.readouterr().out == "tracing\n"


def test_state_of_a_variable_in_branches_and_loops():
    v = tf.Variable(0)
    @tf.function
    def f(n):
        for i in tf.range(n):
            if i % 2 == 0: v.assign_add(i)
            else: v.assign_sub(1)
        return v.read_value()
    assert [int(f(tf.constant(5))), int(f(tf.constant(3)))] == [4, 5]


def test_nested_tapes_in_loops():
    @tf.function
    def f(x):
        total = 0.0
        for i in tf.range(3):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x * x * tf.cast(i, tf.float32)
            total += tape.gradient(y, x)
        return total
    assert float(f(tf.constant(2.0))) == 12.0


def test_methods_of_a_module():
    class Doubling(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(2.0)
        @tf.function
        def __call__(self, x):
            for _ in tf.range(3):
                if x > 10.0: break
                x = x * self.w
            return x
    m = Doubling()
    assert [float(m(tf.constant(v))) for v in (1.0, 9.0)] == [8.0, 18.0]
    with tf.GradientTape() as tape: y = m(tf.constant(1.5))
    assert float(tape.gradient(y, m.w)) == 3 * 1.5 * 4


def test_length_in_a_loop_over_an_array():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def f(x):
        out, s = tf.TensorArray(tf.float32, size=tf.shape(x)[0]), 0.0
        for i in range(len(x)):
            s += x[i]
            out = out.write(i, s)
        return out.stack()
    assert [f(tf.constant(v)).numpy().tolist() for v in ([1.0, 2.0, 3.0], [1.0, 2.0])] == [[1, 3, 6], [1, 3]]


def test_a_while_condition_may_assign():
    def last(x):
        while (y := x * 2.0) < 20.0 and x < 1000.0: x = y
        return x, y
    def only_read_inside(x):
        while (y := x * 2.0) < 20.0: x = y
        return x
    def nested(x, n):
        y = x
        for _ in tf.range(n):
            if x > 0.0:
                k = 0
                while (y := x - 1.5) > 0.0:
                    if y > 4.0:
                        x = x - 2.0
                        continue
                    x, k = y, k + 1
                    if k > 2: break
                x = x + y
        return x
    for f, args in ((last, [1.0]), (only_read_inside, [1.0]), (nested, [9.0, 3])):
        wanted = f(*map(tf.constant, args))
        found = tf.function(f)(*map(tf.constant, args))
        assert [y.numpy() for y in tf.nest.flatten(found)] == [y.numpy() for y in tf.nest.flatten(wanted)]

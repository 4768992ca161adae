"""Programs with data-dependent control flow, for TensorFlow and for tfedu: `programs(tf)` gives those of either.

A program is a function with the arguments of some calls. Numbers and lists become tensors; `Py(...)` stays what it is. `gradient` asks for
the gradients of the sum of all floating results with respect to the floating arguments. `says` is in the message of each error, with both.
"""
from functools import partial
from typing import NamedTuple

import numpy as np


class Py(NamedTuple):
    "A Python argument."
    value: object


class Case(NamedTuple):
    f: object
    calls: tuple
    options: dict


class Box:
    "An object with attributes."
    def __init__(self, value): self.value = value
    def scaled(self, x): return x * self.value if x > 0 else x
    def __call__(self, x): return self.scaled(x) + 1


class Deeper(Box):
    "An object that asks its base class."
    def scaled(self, x):
        if x > 1: return super().scaled(x)
        return super().scaled(-x)


def helper(x, limit=3):
    if x > limit: return x - limit
    return limit - x


def doubled_until(x, n): return x if n <= 0 else doubled_until(x * 2, n - 1)


def decorated(f):
    def around(*args):
        y = f(*args)
        return y if y > 0 else -y
    return around


@decorated
def minus_ten(x): return x - 10


def branches(tf, case):
    "if, elif, else"
    @case([3.0], [-2.0], [0.0], gradient=True)
    def if_else(x):
        if x > 0: y = x * x
        else: y = -3.0 * x
        return y

    @case([1], [2], [3], [9])
    def if_elif_else(x):
        if x == 1: y = 10
        elif x == 2: y = 20
        elif x == 3: y = 30
        else: y = x
        return y

    @case([5.0], [-5.0], gradient=True)
    def if_without_else(x):
        y = x
        if x > 0: y = y * 2.0
        return y

    @case([5, 1], [-5, 1], [5, -1], [-5, -1])
    def nested_if(x, y):
        if x > 0:
            if y > 0: z = 1
            else: z = 2
        else:
            z = 3
            if y > 0: z = z + 1
        return z

    @case([3], [-3])
    def two_variables(x):
        if x > 0: a, b = x, 1
        else: a, b = 2, x
        return a, b

    @case([3], [-3])
    def structures(x):
        if x > 0: y = {"a": x, "b": (1, [x])}
        else: y = {"a": -x, "b": (2, [x])}
        return y["a"] + y["b"][0] + y["b"][1][0]

    @case([3], [-3])
    def local_in_one_branch(x):
        if x > 0:
            t = x * 2
            y = t + 1
        else: y = x
        return y

    @case([3], [-3])
    def augmented(x):
        y = 1
        if x > 0: y += x
        else: y -= x
        return y

    @case([True], [False])
    def truth(x):
        if x: y = 1
        else: y = 0
        return y

    @case([3, Py(True)], [3, Py(False)])
    def python_condition(x, flag):
        if flag: y = x + 1
        else: z = x
        return y if flag else z

    @case([3, Py(None)], [3, 4])
    def none_argument(x, y):
        if y is None: y = 10
        return x + y

    @case([2], [-2])
    def attribute(x):
        box = Box(0)
        if x > 0: box.value = x
        else: box.value = -x
        return box.value

    @case([2], [-2])
    def entry(x):
        d = {"a": x}
        if x > 0: d["b"] = x
        else: d["b"] = x * 10
        return d["b"]

    @case([2], [-2])
    def shapes_differ(x):
        if x > 0: y = tf.zeros((2,))
        else: y = tf.ones((3,))
        return y

    @case([2], [-2])
    def ranks_differ(x):
        if x > 0: y = tf.zeros((2,))
        else: y = tf.ones((3, 1))
        return y

    @case([2], [-2])
    def text(x):
        if x > 0: y = "positive"
        else: y = "negative"
        return y

    @case([2], [-2])
    def inside_with(x):
        with tf.name_scope("scope"):
            if x > 0: y = x
            else: y = -x
        return y

    @case([2], [-2])
    def inside_try(x):
        try:
            if x > 0: y = x
            else: y = -x
        finally: z = 1
        return y + z

    @case([2], [-2])
    def overwritten_before_use(x):
        if x > 0: y = 5
        y = x
        return y

    @case([2], [-2])
    def read_in_condition_only(x):
        a = x + 1
        if a > 2: b = a
        else: b = x
        if b > 2: c = 1
        else: c = 2
        return c

    @case([2], [-2])
    def deleted(x):
        if x > 0:
            y = 1
            del y
        return x


def returns(tf, case):
    "return in the middle"
    @case([2], [-2])
    def early(x):
        if x > 0: return x
        return -x * 10

    @case([2], [-2])
    def both_return(x):
        if x > 0: return x
        else: return -x * 10

    @case([1], [2], [3], [4])
    def ladder(x):
        if x == 1: return 10
        if x == 2: return 20
        y = x
        if y == 3: return 30
        return y

    @case([5, 5], [5, -5], [-5, 1])
    def nested_returns(x, y):
        if x > 0:
            if y > 0: return 1
            else: return 2
        return 3

    @case([2], [-2])
    def return_in_with(x):
        with tf.name_scope("a"):
            if x > 0: return x
            return -x

    @case([2], [-2])
    def return_in_try(x):
        try:
            if x > 0: return x
            return -x
        finally: pass

    @case([2, Py(True)], [2, Py(False)])
    def python_return(x, flag):
        if flag: return x
        if x > 0: return x * 2
        return x * 3

    @case([2], [-2])
    def return_tuple(x):
        if x > 0: return x, 1
        return -x, 2

    @case([2, Py(5)])
    def return_from_python_loop(x, n):
        for i in range(n):
            if i == 3: return x + i
        return x

    @case([2], says="the else branch must also have a return statement")
    def no_return_in_else(x):
        if x > 0: return x

    @case([2], says="the else branch must also have a return statement")
    def no_return_deeper(x):
        if x > 0:
            if x > 5: return x
        return -x

    @case([2], says="is None at the end of the main branch")
    def returns_none(x):
        if x > 0: return None
        return None

    @case([10], says="a return statement cannot be placed inside this TensorFlow loop")
    def return_in_for(n):
        for i in tf.range(n):
            if i * i > 10: return i
        return -1

    @case([10], says="a return statement cannot be placed inside this TensorFlow loop")
    def return_in_while(x):
        while x > 0:
            x -= 1
            if x == 3: return x
        return x

    @case([2])
    def return_structures_differ(x):
        if x > 0: return x
        return x, x


def while_loops(tf, case):
    "while, break, continue"
    @case([5], [0])
    def count(n):
        i = 0
        while i < n: i += 1
        return i

    @case([2.0, 4], [3.0, 0], gradient=True)
    def power(x, n):
        i, y = 0, 1.0
        while i < n:
            y = y * x
            i += 1
        return y

    @case([2.0], [9.0], gradient=True)
    def newton(x):
        y = x
        while tf.abs(y * y - x) > 1e-3 * x: y = (y + x / y) / 2.0
        return y

    @case([5], [12])
    def break_out(n):
        i, s = 0, 0
        while i < n:
            if s > 20: break
            s += i
            i += 1
        return i, s

    @case([6], [0])
    def skip_some(n):
        i, s = 0, 0
        while i < n:
            i += 1
            if i % 2 == 0: continue
            s += i
        return s

    @case([9])
    def break_and_continue(n):
        i, s = 0, 0
        while i < n:
            i += 1
            if i == 3: continue
            if i > 6: break
            s += i
        return s

    @case([5])
    def nested_while(n):
        i, s = 0, 0
        while i < n:
            j = 0
            while j < i:
                s += j
                j += 1
            i += 1
        return s

    @case([5])
    def break_of_inner(n):
        i, s = 0, 0
        while i < n:
            j = 0
            while j < n:
                if j > i: break
                s += j
                j += 1
            i += 1
        return s

    @case([27])
    def collatz(n):
        steps = 0
        while n != 1:
            if n % 2 == 0: n = n // 2
            else: n = 3 * n + 1
            steps += 1
        return steps

    @case([48, 36])
    def gcd(a, b):
        while b != 0: a, b = b, a % b
        return a

    @case([4])
    def made_in_loop(n):
        i = 0
        while i < n:
            y = i * 2
            i += 1
        return y

    @case([0], says="loop must iterate at least once to initialize")
    def never_made(n):
        i = 0
        while i < n:
            y = i * 2
            i += 1
        return y

    @case([3])
    def forever_until(x):
        while tf.constant(True):
            x += 1
            if x > 5: break
        return x

    @case([3, Py(4)])
    def python_while(x, n):
        while n > 0:
            n -= 1
            if n == 2: continue
            x = x * 2
        return x

    @case([4], says="started as non-Tensor, then changed to Tensor")
    def python_turns_tensor(n):
        i = 0
        while True:
            if n < i: break
            i += 1
        return i

    @case([3], says="expected to be `tf.bool` scalar")
    def while_number(x):
        while x: x = x - 1
        return x

    @case([4])
    def attribute_in_loop(n):
        box, i = Box(0), 0
        while i < n:
            box.value += i
            i += 1
        return box.value

    @case([3.0], gradient=True)
    def in_loop_if(x):
        i, y = 0, x
        while i < 4:
            if y > 10.0: y = y - x
            else: y = y * x
            i += 1
        return y

    @case([3.0, 4], gradient=True)
    def in_tensor_loop_if(x, n):
        i, y = 0, x
        while i < n:
            if y > 10.0: y = y - x
            else: y = y * x
            i += 1
        return y


def for_loops(tf, case):
    "for"
    @case([5], [0])
    def over_range(n):
        s = 0
        for i in tf.range(n): s += i
        return s

    @case([5], [1])
    def python_range(n):
        s = 0
        for i in range(n): s += i
        return s

    @case([9])
    def python_range_three(n):
        s = 0
        for i in range(1, n, 2): s += i
        return s

    @case([[1.0, 2.0, 3.0]], gradient=True)
    def over_tensor(x):
        s = 0.0
        for v in x: s += v * v
        return s

    @case([[[1.0, 2.0], [3.0, 4.0]]], gradient=True)
    def over_rows(x):
        s = tf.zeros((2,))
        for row in x: s = s * 2.0 + row
        return s

    @case([[[1.0, 2.0], [3.0, 4.0]]], gradient=True)
    def nested_for(x):
        s = 0.0
        for row in x:
            for v in row: s += v * v
        return s

    @case([9])
    def for_break(n):
        s = 0
        for i in tf.range(n):
            if i > 4: break
            s += i
        return s

    @case([9])
    def for_continue(n):
        s = 0
        for i in tf.range(n):
            if i % 3 == 0: continue
            s += i
        return s

    @case([6])
    def break_nested(n):
        s = 0
        for i in tf.range(n):
            for j in tf.range(n):
                if j > i: break
                s += j
            if s > 5: break
        return s

    @case([3, Py((1, 2, 3))])
    def python_for(x, values):
        for v in values:
            if x > v: x = x - v
            else: x = x * v
        return x

    @case([3, Py(5)])
    def python_for_break(x, n):
        for i in range(n):
            if i == 3: break
            x = x + i
        return x

    @case([3, Py(5)])
    def python_for_continue(x, n):
        for i in range(n):
            if i == 3: continue
            x = x + i
        return x

    @case([4], says="not supported in Python for loops")
    def python_for_tensor_break(n):
        s = 0
        for i in range(10):
            if n < i: break
            s += i
        return s

    @case([3])
    def made_in_for(n):
        for i in tf.range(n): y = i * 2
        return y

    @case([0], says="loop must iterate at least once to initialize")
    def never_made_in_for(n):
        for i in tf.range(n): y = i * 2
        return y

    @case([3])
    def none_before(n):
        y = None
        for i in tf.range(n): y = i
        return y

    @case([3])
    def target_after(n):
        for i in tf.range(n): pass   # noqa: B007
        return i

    @case([3], says="must be defined before the loop")
    def reads_unmade(n):
        for i in tf.range(n): s = s + i   # noqa: F821
        return s

    @case([3])
    def grows(n):
        y = tf.zeros((1,))
        for _ in tf.range(n):
            tf.autograph.experimental.set_loop_options(shape_invariants=[(y, tf.TensorShape([None]))])
            y = tf.concat([y, y], 0)
        return y

    @case([3], says="has shape (1,) before the loop, but shape (2,) after one iteration")
    def grows_without_saying(n):
        y = tf.zeros((1,))
        for _ in tf.range(n): y = tf.concat([y, y], 0)
        return y

    @case([3], says="has dtype int32 before the loop, but dtype float32 after one iteration")
    def changes_type(n):
        y = 0
        for _ in tf.range(n): y = 1.5
        return y

    @case([3], says="is None at the end of the iteration")
    def becomes_none(n):
        y = n
        for _ in tf.range(n): y = None
        return y

    @case([3])
    def over_scalar(x):
        s = 0
        for v in x: s += v
        return s

    @case([4])
    def entry_in_loop(n):
        d = {"a": 0}
        for i in tf.range(n): d["a"] += i
        return d["a"]

    @case([2.0, 3], gradient=True)
    def gradient_of_carried(x, n):
        y, z = x, 1.0
        for _ in tf.range(n):
            y, z = y * z, z + x
        return y + z

    @case([4])
    def array_in_loop(n):
        t = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
        for i in tf.range(n): t = t.write(i, i * i)
        return t.stack()

    @case([[1.0, 2.0, 3.0]], gradient=True)
    def array_gradient(x):
        t = tf.TensorArray(tf.float32, size=3)
        s = 0.0
        for i in tf.range(3):
            s = s + x[i] * x[i]
            t = t.write(i, s)
        return t.stack()

    @case([1], [5])
    def array_in_branch(n):
        t = tf.TensorArray(tf.float32, 3)
        for i in range(3):
            if i < n: t = t.write(i, 1.0)
            else: t = t.write(i, 2.0)
        return t.stack()

    @case([2])
    def python_list(n):
        out = []
        for i in range(3): out.append(i * n)
        return tf.stack(out)

    @case([1])
    def ragged_rows(n):
        s = 0
        for row in tf.ragged.constant([[1, 2], [3]]): s += tf.reduce_sum(row) * n
        return s

    @case([3.0], gradient=True)
    def sum_of_squares(x):
        s = tf.constant(0.0)
        for i in tf.range(4): s += tf.cast(i, tf.float32) * x * x
        return s


def expressions(tf, case):
    "and, or, not, conditional expressions, comparisons, calls"
    @case([True, False], [False, True], [True, True], [False, False])
    def logic(x, y): return (x and y), (x or y), (not x)

    @case([5, 0], [5, 2])
    def lazy(x, y): return y > 0 and x // y > 1

    @case([True])
    def python_and(x): return (0 and x), (1 and x), (False or x)

    @case([3], [-1], [9])
    def chain(x):
        if 0 < x < 5: return x
        return -x

    @case([2], [-2])
    def conditional(x): return 1 if x > 0 else -1

    @case([4.0], [-4.0], gradient=True)
    def conditional_gradient(x): return x * x if x > 0 else x * 3.0

    @case([2], says="is None at the end of the else branch")
    def conditional_none(x): return 1 if x > 0 else None

    @case([2], says="has dtype int32 in the main branch, but dtype float32 in the else branch")
    def conditional_types(x): return 1 if x > 0 else 2.5

    @case([1, 2], [1, 1])
    def in_condition(x, y):
        if x == y or not (x < y): return 1
        return 2

    @case([[1, 2, 3]])
    def length(x): return len(x)

    @case([3, 2])
    def lists_of_tensors(x, y): return sum([x, y]), len([x, y]), max([1, 2]) + x

    @case([[3, 1, 2]])
    def in_order(x): return sorted(x)

    @case([5], [-5])
    def absolute(x): return abs(x)

    @case([3.7])
    def to_int(x): return int(x)

    @case([3])
    def mapped(x): return list(map(lambda v: v + 1 if v > 0 else v, [x, -x]))   # noqa: C417

    @case([3])
    def comprehension(x): return [x * i for i in range(4) if i % 2]

    @case([[1, 2]])
    def comprehension_of_tensor(x): return [v + 1 for v in x]

    @case([2])
    def comprehension_condition(x): return [v for v in [1, 2] if x > v]

    @case([2], [-2])
    def not_vector(x): return not tf.stack([x > 0, x < 0])

    @case([2], says="expected to be `tf.bool` scalar")
    def if_number(x):
        if x: return 1
        return 0

    @case([[True, False]], says="expected to be `tf.bool` scalar")
    def if_vector(x):
        if x: return 1
        return 0

    @case([[1, 2]])
    def set_element(x):
        x[0] = 5
        return x

    @case([2])
    def unbound(x):
        if False: z = 1
        return x + z

    @case([2], says="negative")
    def raises(x):
        if x > 0: raise ValueError("negative")
        return x

    @case([2, Py(3)])
    def catches(x, n):
        try:
            if n > 2: raise KeyError("k")
        except KeyError: return x
        return -x


def calls(tf, case):
    "functions that call functions"
    v = tf.Variable(0)

    @case([5], [1])
    def calls_helper(x): return helper(x) + helper(x, limit=4)

    @case([4, Py(3)])
    def recursion(x, n): return doubled_until(x, n)

    @case([2], [-2])
    def local_function(x):
        def bigger(a, b):
            if a > b: return a
            return b
        return bigger(x, 3) + bigger(-x, 1)

    @case([2], [-2])
    def local_lambda(x):
        f = lambda v: v if v > 0 else -v   # noqa: E731
        return f(x)

    @case([2], [-2])
    def closure(x):
        k = x + 1
        def scale(y):
            if y > k: return y * k
            return k
        return scale(x * 2)

    @case([2], [-2])
    def method(x): return Box(3).scaled(x)

    @case([2], [-2])
    def callable_object(x): return Box(3)(x)

    @case([2], [-2])
    def base_class(x): return Deeper(3).scaled(x)

    @case([5], [1])
    def partially(x): return partial(helper, limit=2)(x)

    @case([5], [15])
    def through_decorator(x): return minus_ten(x)

    @case([5, Py((1, 2))])
    def star_arguments(x, more):
        def f(*a, **k): return a[0] + k["y"] if a[0] > 0 else a[1]
        return f(x, *more, **{"y": 10})   # noqa: PIE804

    @case([3], [-3])
    def function_in_branch(x):
        if x > 0:
            def f(v): return v + 1
            y = f(x)
        else: y = x
        return y

    @case([3], [-3])
    def given_to_cond(x):
        def inner():
            if x > 1: return x
            return 1
        return tf.cond(x > 0, inner, lambda: -x)

    @case([[1, -2, 3]])
    def given_to_map(x):
        def one(v):
            if v > 0: return v * 10
            return -v
        return tf.map_fn(one, x)

    @case([3])
    def generator(x):
        def g():
            yield x
            yield x + 1
        return sum(g())

    @case([3], [-3])
    def inner_function(x):
        @tf.function
        def f(y):
            if y > 0: return y
            return y * 10
        return f(x) + 1

    @case([3])
    def as_it_is(x):
        @tf.autograph.experimental.do_not_convert
        def f(y):
            if y > 0: return 1
            return 2
        return f(x)

    @case([2, Py(2)], [2, Py(3)])
    def matched(x, kind):
        match kind:
            case 2: return x
            case _: return -x

    @case([1, -2], [-1, -2])
    def state(x, y):
        v.assign(0)
        if x > 0: v.assign_add(x)
        else: v.assign_sub(y)
        return v.read_value()


def misfits(tf, case):
    "errors"
    @case([1], says="'y' must also be initialized in the else branch")
    def only_in_main(x):
        if x > 0: y = x
        return y

    @case([1], says="'y' must also be initialized in the main branch")
    def only_in_else(x):
        if x > 0: pass
        else: y = x
        return y

    @case([1], says="'x' must also be initialized in the main branch")
    def deleted_in_main(x):
        if x > 0: del x
        return x

    @case([1], says="'y' is None at the end of the main branch")
    def none_in_main(x):
        y = x
        if x > 0: y = None
        return y

    @case([1], says="'y' is None at the end of the else branch")
    def none_in_else(x):
        if x > 0: y = x
        else: y = None
        return y

    @case([1], says="'y' is None at the end of the main branch")
    def none_within(x):
        if x > 0: y = (x, None)
        else: y = (x, None)
        return y[0]

    @case([1], says="'y' has dtype int32 in the main branch, but dtype float32 in the else branch")
    def types(x):
        if x > 0: y = 1
        else: y = 2.0
        return y

    @case([1])
    def lengths(x):
        if x > 0: y = (x, 1)
        else: y = (x, 1, 2)
        return y

    @case([1])
    def list_lengths(x):
        y = [x]
        if x > 0: y = y + [x]
        return y

    @case([1])
    def objects(x):
        if x > 0: y = Box(1)
        else: y = Box(2)
        return x if y is None else x + 1

    @case([1])
    def unused_objects(x):
        if x > 0: y = Box(1)
        else: y = Box(2)   # noqa: F841
        return x

    @case([1])
    def object_in_loop(n):
        y = Box(1)
        for _ in tf.range(n): y = Box(2)
        return n if y is None else n + 1

    @case([1], says="'y' must also be initialized in the else branch")
    def constant_condition(x):
        if tf.constant(True): y = x
        return y


def programs(tf):
    "Name -> case."
    found = {}
    def case(*calls, **options):
        def add(f):
            if f.__name__ in found: raise ValueError(f"two programs are called {f.__name__}")
            found[f.__name__] = Case(f, calls, options)
            return f
        return add
    for group in (branches, returns, while_loops, for_loops, expressions, calls, misfits): group(tf, case)
    return found


def tensor(tf, x):
    "An argument."
    return x.value if isinstance(x, Py) else tf.constant(x)


def plain(v):
    "The numbers or text of a result, and its type."
    v = np.asarray(v.numpy() if hasattr(v, "numpy") else v)
    if v.dtype != object and v.dtype.kind not in "SU": return [v.tolist(), v.dtype.name]
    return [v.item().decode() if isinstance(v.item(), bytes) else str(v), "string"]


def outcome(tf, case, given, run=None):
    "What a call gives, in a tf.function: results, and gradients if asked for; or the class of an error, and if it says what it should."
    args = [tensor(tf, x) for x in given]
    floats = [x for x in args if tf.is_tensor(x) and x.dtype.is_floating]
    try:
        with tf.GradientTape() as tape:
            tape.watch(floats)
            y = (run or tf.function)(case.f)(*args)
            flat = tf.nest.flatten(y)
            total = [tf.reduce_sum(v) for v in flat if tf.is_tensor(v) and v.dtype.is_floating]
            found = {"y": list(map(plain, flat))}
    except Exception as error: return {"error": type(error).__name__, "says": case.options.get("says", "") in str(error)}
    if case.options.get("gradient"): found["g"] = [None if g is None else np.asarray(g).tolist() for g in tape.gradient(total, floats)]
    return found

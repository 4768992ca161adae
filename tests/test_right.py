"""Each row of the page 'Where TensorFlow says NaN': what tfedu says there, by value and by differences where there are any."""
import numpy as np
import pytest
from right_rows import page, tables

import tfedu as tf

PAGE = page(tf, np)
ROWS = [pytest.param(row, id=f"{table}-{row[0]}") for table, rows in tables(PAGE).items() for row in rows]

# Places where a function has no slope in the sense of differences to both sides, and why.
ENDS = {
    "an end of its domain": [
        "tf.pow(x, y)", "tf.math.igamma(1.0, x)", "tf.acos(x)", "tf.asin(x)", "tf.sqrt(x)", "tf.pow(x, 0.5)", "x * tf.math.log(x)",
        "tf.math.xlogy(x, x)"],
    "a jump or a pole": [
        "tf.atan2(y, x)", "tf.math.angle(x)", "tf.linalg.normalize(x)[0]", "tf.math.rsqrt(x)", "tf.where(x == 0, 0.0, 1 / x)",
        "tf.math.divide_no_nan(1.0, x)", "tf.math.reciprocal_no_nan(x)", "tf.math.multiply_no_nan(y, x)",
        "tf.where(x > 0, tf.math.log(x), 0.0)", "tf.where(x > 0, tf.math.log(tf.where(x > 0, x, 1.0)), 0.0)",
        "tf.math.xlogy(x, y) at 0, 0"],
    "only the gradient of the op above is asked": ["slope(lambda x: x ** 1.0, x)"],
    "a slope of a million within a millionth": ["tf.nn.l2_normalize(x)", "tf.sqrt(x * x)", "tf.sqrt(tf.maximum(x, 1e-12))"],
    "numbers too small for a step": ["tf.abs(x) at [3.e-30+4.e-30j]", "tf.norm(x) * 1e30"],
}
WITHOUT = {expression for expressions in ENDS.values() for expression in expressions}


def place(row): return f"{row[0]} at {', '.join(str(x) for x in row[1].values())}"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("row", ROWS)
def test_what_tfedu_says(row):
    expression, inputs, _, ours, _ = row
    answer = PAGE["ask"](expression, inputs)
    assert PAGE["agree"](answer, ours), answer


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("row", ROWS)
def test_slope_is_that_of_the_function(row):
    expression, inputs, _, (_, slopes), _ = row
    if not slopes: pytest.skip("no slope is asked")
    if found := {expression, place(row)} & WITHOUT: pytest.skip(next(why for why, those in ENDS.items() if found & set(those)))
    xs = {name: np.asarray(x, np.complex128 if np.iscomplexobj(x) else np.float64) for name, x in inputs.items()}
    if not all(np.isfinite(x).all() for x in xs.values()): pytest.skip("infinite: no step leads away")
    def total(moved): return float(np.sum(PAGE["ask"](expression, xs | moved)[0]))
    for (name, x), want in zip(xs.items(), slopes, strict=True):
        found, step = np.zeros(x.shape), 1e-5 * max(1.0, np.abs(x).max())
        for index in np.ndindex(x.shape):
            by = np.zeros(x.shape)
            by[index] = step
            found[index] = (total({name: x + by}) - total({name: x - by})) / (2 * step)
        np.testing.assert_allclose(found, want, rtol=2e-3, atol=2e-3)


def test_list_of_exceptions_is_exact():
    assert WITHOUT <= {name for row in ROWS for name in (row.values[0][0], place(row.values[0]))}


def test_most_rows_differ_from_tensorflow():
    differ = [row.values[0] for row in ROWS if not PAGE["agree"](row.values[0][2], row.values[0][3])]
    assert len(ROWS) >= 70 and len(differ) >= 45


def test_nan_is_left_only_where_the_page_says_so():
    left = [e for e, _, _, (value, slopes), _ in (row.values[0] for row in ROWS)
            if any(np.isnan(np.asarray(v, complex)).any() for v in [value, *(slopes or [])])]
    assert left == ["tf.sort(x)", "tf.where(x > 0, tf.math.log(x), 0.0)", "x * tf.math.log(x)", "tf.where(x == 0, 0.0, 1 / x)",
                    "tf.math.multiply_no_nan(y, x)", "tf.sqrt(x * x)", "tf.nn.softmax(x)"]


def test_mean_of_integers_is_that_of_python():
    rng = np.random.default_rng(0)
    for dtype in (np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint64):
        info = np.iinfo(dtype)
        for size in (1, 2, 3, 7, 100):
            x = rng.integers(info.min, info.max, size, dtype, endpoint=True)
            total = sum(map(int, x))
            assert int(tf.reduce_mean(x)) == (abs(total) // size) * (1 if total >= 0 else -1)
        edge = np.full((5, 3), info.min, dtype)
        np.testing.assert_array_equal(tf.reduce_mean(edge, axis=0), edge[0])
    assert tf.reduce_mean(np.zeros((0, 2), np.int32), 0).numpy().tolist() == [0, 0]


def test_many_small_tensors_are_added_in_32_bits():
    for dtype in (tf.float16, tf.bfloat16):
        one = tf.cast(1, dtype)
        assert float(tf.add_n([one] * 4096)) == float(tf.math.accumulate_n([one] * 4096)) == 4096 and tf.add_n([one, one]).dtype == dtype


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_slopes_where_a_density_has_its_end():
    for (a, b, x), want in {(1, 1, 0): 1, (1, 1, 1): 1, (1, 2, 0): 2, (2, 1, 1): 2, (2, 2, 0): 0}.items():
        with tf.GradientTape() as tape:
            x = tf.constant(float(x))
            tape.watch(x)
            y = tf.math.betainc(float(a), float(b), x)
        assert abs(float(tape.gradient(y, x)) - want) < 1e-5
    for sign, f in ((1, tf.math.igamma), (-1, tf.math.igammac)):
        assert float(PAGE["slope"](lambda x, f=f: f(1.0, x), tf.constant(0.0))) == sign


def test_angles_bend_as_they_should():
    y, x = tf.constant(np.float64(.3)), tf.constant(np.float64(-.7))
    bend = float(PAGE["slope"](lambda y: PAGE["slope"](lambda y: tf.atan2(y, x), y), y))
    assert abs(bend - float(-2 * x * y / (x * x + y * y) ** 2)) < 1e-12

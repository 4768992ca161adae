"""Formats of floats against the types that NumPy and ml_dtypes have, on every bit pattern, every middle and both of its neighbours."""
import ml_dtypes
import numpy as np
import pytest

from tfedu.kernels.precision import FORMATS, Format, bits, fields, lost, round_to, spacing, total

TYPES = {"fp16": np.float16, "bf16": ml_dtypes.bfloat16, "e4m3": ml_dtypes.float8_e4m3, "e5m2": ml_dtypes.float8_e5m2}
FORMAT = {"e4m3": Format("e4m3", 4, 3), "e5m2": Format("e5m2", 5, 2)} | FORMATS


def patterns(dtype):
    "All finite numbers of a type, in order."
    size = np.dtype(dtype).itemsize
    every = np.arange(2 ** (8 * size), dtype=f"u{size}").view(dtype).astype(np.float32)
    return np.unique(every[np.isfinite(every)])


@pytest.mark.parametrize("name", TYPES)
@np.errstate(all="ignore")
def test_rounding_is_that_of_the_type(name):
    own = patterns(TYPES[name]).astype(np.float64)
    middle = ((own[1:] + own[:-1]) / 2).astype(np.float32)
    top = np.float32(own[-1] + spacing(own[-1], FORMAT[name]) / 2)
    beside = [np.nextafter(middle, np.float32(end)) for end in (-np.inf, np.inf)]
    edge = [top, np.nextafter(top, np.float32(0)), -top, np.float32(np.inf), np.float32(-np.inf), np.float32(-0.)]
    tried = np.concatenate([own.astype(np.float32), middle, *beside, edge]).astype(np.float32)
    assert np.array_equal(round_to(tried, FORMAT[name]).view("u4"), tried.astype(TYPES[name]).astype(np.float32).view("u4"))


def test_tf32_goes_away_from_zero():
    x = np.random.default_rng(0).integers(0, 2 ** 32, 10 ** 5, dtype=np.uint32).view(np.float32)
    x = x[np.isfinite(x) & (np.abs(x) < 1e38)].astype(np.float64)
    x = np.concatenate([x, round_to(x, "tf32") + spacing(x, "tf32") / 2]).astype(np.float32).astype(np.float64)
    step = spacing(x, "tf32")
    assert np.array_equal(round_to(x, "tf32"), np.copysign(np.floor(np.abs(x) / step + .5) * step, x))


@pytest.mark.parametrize("name", TYPES)
def test_fields_are_the_stored_bits(name):
    dtype, size = TYPES[name], np.dtype(TYPES[name]).itemsize
    for pattern in range(0, 2 ** (8 * size), 1 if size == 1 else 97):
        value = float(np.array([pattern], f"u{size}").view(dtype)[0])
        if np.isfinite(value): assert "".join(fields(value, FORMAT[name])) == f"{pattern:0{8 * size}b}"


def test_no_double_rounding():
    just_above_a_middle = 1 + 2. ** -11 + 2. ** -40             # float32 would make a tie of it
    assert round_to(just_above_a_middle, "fp16") == np.float32(1 + 2. ** -10)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 64, 1000])
def test_sums(n):
    values = np.random.default_rng(n).normal(size=(n, 3)).astype(np.float32)
    in_order = np.zeros(3, np.float32)
    for row in values: in_order = in_order + row
    assert np.array_equal(total(values), in_order)
    for how in ("pairs", "kahan"): np.testing.assert_allclose(total(values, how=how), values.sum(0, dtype=np.float64), rtol=1e-6, atol=1e-6)


def test_empty_and_wrong_input():
    assert round_to([], "fp16").shape == (0,) and np.isnan(round_to(np.nan, "bf16")) and np.isnan(spacing(np.inf, "fp16"))
    with pytest.raises(ValueError, match="fp32, tf32, bf16, fp16, got 'fp17'"): round_to(1., "fp17")
    with pytest.raises(ValueError, match="'in order', 'pairs' or 'kahan'"): total([1.], how="backwards")
    assert lost([1e-9, 1., 1e9, 0.], "fp16") == {"zero": .3333, "subnormal": 0., "infinite": .3333}


def test_pictures_are_text_that_repeats():
    for x in (0., -0., np.inf, np.nan, 1e-45, 0.1): assert str(bits(x)) == str(bits(x))

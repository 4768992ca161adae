"""CUDA C in the simulator: what each word computes, against NumPy, ml_dtypes and Python's integers."""
import ctypes
import math
import sysconfig
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from tfedu.kernels.simulator import RawKernel, RawModule

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
C = {"f4": "float", "f8": "double", "i4": "int", "u4": "unsigned", "i8": "long long", "u8": "unsigned long long", "u2": "unsigned short"}
HALVES = {"half": np.dtype(np.float16), "bfloat16": BFLOAT16}
TYPE = {"half": "half", "bfloat16": "__nv_bfloat16"}
INCLUDE = {"half": "#include <cuda_fp16.h>\n", "bfloat16": "#include <cuda_bf16.h>\n"}


@lru_cache
def nvrtc():
    "NVIDIA's compiler and its include folder, where its wheel is installed."
    root = Path(sysconfig.get_paths()["purelib"]) / "nvidia/cu13"
    builtins, library = (sorted((root / "lib").glob(f"libnvrtc{part}.so.*")) for part in ("-builtins", ""))
    if not library: return None
    ctypes.CDLL(str(builtins[0]), ctypes.RTLD_GLOBAL)
    return ctypes.CDLL(str(library[0])), root / "include"


@lru_cache
def valid(source):
    "What runs here is CUDA: a card's compiler takes it too."
    if nvrtc() is None: return
    lib, include = nvrtc()
    options = [b"--gpu-architecture=sm_80", b"-std=c++17", b"-I" + bytes(include), b"-I" + bytes(include / "cccl")]
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    lib.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None)
    failed = lib.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    lib.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    lib.nvrtcGetProgramLog(program, log)
    lib.nvrtcDestroyProgram(ctypes.byref(program))
    assert not failed, log.value.decode() + source


@pytest.fixture(autouse=True)
def quiet():
    with np.errstate(all="ignore"): yield


def launch(source, name, grid, block, *args):
    valid(source)
    RawKernel(source, name)((grid,), (block,), args)


def table(formulas, arrays, out="f4", before="", load="{p}[i]"):
    "Evaluates formulas of a, b, c (names of `arrays`, all of one length and kind) for every i: an array (formula, i)."
    kinds = {name: x.dtype.str[1:] for name, x in arrays.items()}
    n = len(next(iter(arrays.values())))
    loads = "".join(f"auto {name} = {load.format(p='p_' + name)}; " for name in arrays)
    stores = "".join(f"    out[{j} * n + i] = {formula};\n" for j, formula in enumerate(formulas))
    given = "".join(f", const {C[kind]} *p_{name}" for name, kind in kinds.items())
    source = f'{before}extern "C" __global__ void table(int n, {C[out]} *out{given}) {{\n' \
             f"    int i = blockIdx.x * blockDim.x + threadIdx.x;\n" \
             f"    if (i >= n) return;\n    {loads}\n{stores}}}\n"
    result = np.zeros((len(formulas), n), out)
    launch(source, "table", (n + 255) // 256, 256, np.int32(n), result, *arrays.values())
    return result


def same(actual, expected, what=""):
    "Equal bit for bit, but any NaN is as good as another."
    actual, expected = np.asarray(actual), np.asarray(expected)
    nan = np.isnan(expected.astype("f8"))
    assert np.array_equal(np.isnan(actual.astype("f8")), nan), what
    bits = f"u{actual.dtype.itemsize}"
    wrong = np.flatnonzero((actual.view(bits) != expected.astype(actual.dtype).view(bits)) & ~nan)
    assert not len(wrong), f"{what}: {len(wrong)} differ, first at {wrong[0]}: {actual[wrong[0]]}, expected {expected[wrong[0]]}"


@pytest.fixture
def rng(): return np.random.default_rng(4)


# Sixteen bits

def rounded(x, dtype):
    "float64 -> 16 bits with one rounding to the nearest even (a cast through float32 would round twice)."
    x = np.asarray(x, "f8")
    fraction, least = (10, -14) if dtype == np.float16 else (7, -126)
    with np.errstate(all="ignore"):
        exponent = np.maximum(np.frexp(x)[1] - 1, least)
        step = np.ldexp(1.0, exponent - fraction)
        return np.where(np.isfinite(x), np.rint(x / step) * step, x).astype("f4").astype(dtype)


@pytest.mark.parametrize("kind", HALVES)
def test_every_value_there_and_back(kind):
    codes = np.arange(65536, dtype="u2")
    x = codes.view(HALVES[kind])
    load = f"__ushort_as_{kind}({{p}}[i])"
    wide = table([f"__{kind}2float(a)", "float(a)"], {"a": codes}, "f4", INCLUDE[kind], load)
    for row in wide: same(row, x.astype("f4"))
    back = table([f"__{kind}_as_ushort(a)", f"__{kind}_as_ushort(__float2{kind}(float(a)))",
        f"__{kind}_as_ushort({TYPE[kind]}((double)float(a)))"],
                 {"a": codes}, "u2", INCLUDE[kind], load)
    assert np.array_equal(back[0], codes)
    for row in back[1:]: same(row.view(x.dtype), x)


@pytest.mark.parametrize("options", [(), ("-DSIM_PORTABLE",)])
@pytest.mark.parametrize("kind", HALVES)
def test_floats_round_to_sixteen_bits(kind, options, rng):
    dtype = HALVES[kind]
    edges = np.arange(65536, dtype="u2").view(dtype).astype("f4")
    edges = edges[np.isfinite(edges)]
    ties = (edges[:-1].astype("f8") + edges[1:]) / 2
    x = np.concatenate([ties, np.nextafter(ties.astype("f4"), np.inf, dtype="f4"), rng.integers(0, 2 ** 32, 50000, "u4").view("f4"),
                        [65504, 65519.996, 65520, 1e30, -1e30, np.inf, -np.inf, np.nan, 0.0, -0.0, 3e-8, 2.9e-8, 1e-45]]).astype("f4")
    source = INCLUDE[kind] + f"""
extern "C" __global__ void narrow(int n, const float *x, unsigned short *near, unsigned short *zero, unsigned short *up,
    unsigned short *down) {{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    near[i] = __{kind}_as_ushort(__float2{kind}_rn(x[i]));
    zero[i] = __{kind}_as_ushort(__float2{kind}_rz(x[i]));
    up[i] = __{kind}_as_ushort(__float2{kind}_ru(x[i]));
    down[i] = __{kind}_as_ushort(__float2{kind}_rd(x[i]));
}}
"""
    near, zero, up, down = (np.zeros(len(x), "u2") for _ in range(4))
    valid(source)
    RawKernel(source, "narrow", options)(((len(x) + 255) // 256,), (256,), (np.int32(len(x)), x, near, zero, up, down))
    with np.errstate(all="ignore"): same(near.view(dtype), x.astype(dtype), "nearest")
    number = ~np.isnan(x)
    lo, hi, ze = (v.view(dtype).astype("f8")[number] for v in (down, up, zero))
    x = x[number]
    assert np.all(lo <= x) and np.all(x <= hi) and np.all(np.abs(ze) <= np.abs(x))
    exact = x == x.astype(dtype).astype("f4")
    assert np.array_equal(lo[exact], x[exact]) and np.array_equal(hi[exact], x[exact])
    codes = [v.view("i2")[number].astype(int) for v in (down, up)]
    steps = np.abs(np.where(codes[1] < 0, -(codes[1] & 0x7fff), codes[1]) - np.where(codes[0] < 0, -(codes[0] & 0x7fff), codes[0]))
    assert np.all(steps == np.where(exact, 0, 1)), "up and down are neighbours"
    assert np.array_equal(ze, np.where(x > 0, lo, hi))


@pytest.mark.parametrize("kind", HALVES)
def test_sixteen_bit_arithmetic(kind, rng):
    dtype, codes = HALVES[kind], rng.integers(0, 65536, (3, 200_000)).astype("u2")
    codes[:, :1000] = rng.choice(np.array([0, 0x8000, 1, 0x8001, 0x7c00, 0xfc00, 0x7e00, 0x3c00, 0x3f80, 0x7f80, 0x7bff, 0x7f7f], "u2"),
        (3, 1000))
    codes[1, 1000:2000] = codes[0, 1000:2000] ^ 0x8000
    a, b, c = (row.view(dtype).astype("f8") for row in codes)
    order = {"__heq": a == b, "__hne": (a != b) & ~np.isnan(a + b + 0), "__hlt": a < b, "__hle": a <= b, "__hgt": a > b, "__hge": a >= b}
    order["__hne"] = (a != b) & ~np.isnan(a) & ~np.isnan(b)
    formulas = ["a + b", "a - b", "a * b", "a / b", "__hfma(a, b, c)", "-a", "__habs(a)", "__hmax(a, b)", "__hmin(a, b)", "hsqrt(a)",
        "hfloor(a)", "hrint(a)"]
    load = f"__ushort_as_{kind}({{p}}[i])"
    out = table([f"__{kind}_as_ushort({f})" for f in formulas] + [f"{name}(a, b)" for name in order] + [f"{name}u(a, b)" for name in order],
                dict(zip("abc", codes)), "u2", INCLUDE[kind], load)
    with np.errstate(all="ignore"):
        product = a * b
        total = product + c
        part = total - product
        lost = (product - (total - part)) + (c - part)       # what the float64 sum rounded off; told to the rounding as a hint
        fused = np.where((lost != 0) & np.isfinite(total) & (total.view("u8") % 2 == 0),
                         np.nextafter(total, np.where(lost > 0, np.inf, -np.inf)), total)
        expected = [rounded(x, dtype) for x in (a + b, a - b, product, a / b, fused, -a, np.abs(a), np.fmax(a, b), np.fmin(a, b),
            np.sqrt(a),
                                                np.floor(a), np.rint(a))]
    for formula, row, want in zip(formulas, out, expected):
        if formula in ("__hmax(a, b)", "__hmin(a, b)"): row, want = row[~((a == 0) & (b == 0))], want[~((a == 0) & (b == 0))]
        same(row.view(dtype), want, formula)
    with np.errstate(all="ignore"):
        x, y = (row.view(dtype) for row in codes[:2])
        if kind == "half":
            for row, want in zip(out, (x + y, x - y, x * y, x / y)): same(row.view(dtype), want, "NumPy's own")
        else:
            for row, want in zip(out, (x + y, x - y)): same(row.view(dtype), want, "ml_dtypes' own")
    for (name, want), row, loose in zip(order.items(), out[len(formulas):], out[len(formulas) + len(order):]):
        assert np.array_equal(row, want), name
        assert np.array_equal(loose, want | np.isnan(a) | np.isnan(b)), name + "u"


@pytest.mark.parametrize("kind", HALVES)
def test_sixteen_bit_functions(kind):
    codes = np.arange(65536, dtype="u2")
    dtype, x = HALVES[kind], codes.view(HALVES[kind]).astype("f8")
    with np.errstate(all="ignore"):
        want = {"hexp": np.exp(x), "hexp2": np.exp2(x), "hexp10": 10.0 ** x, "hlog": np.log(x), "hlog2": np.log2(x), "hlog10": np.log10(x),
                "hrsqrt": 1 / np.sqrt(x), "hrcp": 1 / x, "hceil": np.ceil(x), "htrunc": np.trunc(x)}
    out = table([f"__{kind}_as_ushort({name}(a))" for name in want], {"a": codes}, "u2", INCLUDE[kind], f"__ushort_as_{kind}({{p}}[i])")
    for (name, y), row in zip(want.items(), out):
        got, y = row.view(dtype).astype("f8"), rounded(y, dtype).astype("f8")
        assert np.array_equal(np.isnan(got), np.isnan(y)), name
        near = np.abs(row.astype(int) - y.astype(dtype).view("u2").astype(int)) <= 1
        assert np.all(near | np.isnan(y)) and np.mean(got[~np.isnan(y)] == y[~np.isnan(y)]) > 0.9999, name


@pytest.mark.parametrize("kind", HALVES)
def test_sixteen_bits_and_integers(kind, rng):
    codes = np.arange(65536, dtype="u2")
    x = codes.view(HALVES[kind]).astype("f8")
    load = f"__ushort_as_{kind}({{p}}[i])"
    for name, out, low, high in (("int", "i4", -2 ** 31, 2 ** 31 - 1), ("uint", "u4", 0, 2 ** 32 - 1)):
        rows = table([f"__{kind}2{name}_{way}(a)" for way in ("rn", "rz", "ru", "rd")], {"a": codes}, out, INCLUDE[kind], load)
        for row, step in zip(rows, (np.rint, np.trunc, np.ceil, np.floor)):
            want = np.clip(np.nan_to_num(step(x), nan=0, posinf=1e30, neginf=-1e30), low, high)
            assert np.array_equal(row.astype("f8"), want), name
    whole = np.concatenate([rng.integers(-70000, 70000, 5000), rng.integers(-2 ** 31, 2 ** 31, 5000)]).astype("i4")
    rows = table([f"__{kind}_as_ushort(__int2{kind}_{way}(a))" for way in ("rn", "rz", "ru", "rd")], {"a": whole}, "u2", INCLUDE[kind])
    values = [row.view(HALVES[kind]).astype("f8") for row in rows]
    same(rows[0].view(HALVES[kind]), rounded(whole, HALVES[kind]))
    assert np.all(values[3] <= whole) and np.all(values[2] >= whole) and np.all(np.abs(values[1]) <= np.abs(whole.astype("f8")))


@pytest.mark.parametrize("kind", HALVES)
def test_pairs(kind, rng):
    T, pair = TYPE[kind], "half2" if kind == "half" else "__nv_bfloat162"
    source = INCLUDE[kind] + f"""
extern "C" __global__ void pairs(const {C['f4']} *x, float *y, int *z) {{
    {pair} a = __floats2{pair.strip('_').removeprefix('nv_')}_rn(x[0], x[1]), b = {pair}({T}(x[2]), {T}(x[3]));
    {pair} s = __hadd2(a, b), f = __hfma2(a, b, s), m = __hmax2(a, b), swapped = __lowhigh2highlow(a);
    y[0] = __low2float(s); y[1] = __high2float(s);
    y[2] = __low2float(f); y[3] = __high2float(f);
    y[4] = __low2float(m); y[5] = __high2float(m);
    y[6] = __low2float(swapped); y[7] = __high2float(swapped);
    y[8] = __low2float(__hlt2(a, b)); y[9] = __high2float(__hlt2(a, b));
    z[0] = __hbeq2(a, a); z[1] = sizeof({pair}); z[2] = alignof({pair}); z[3] = (int)(__hlt2_mask(a, b) & 0xffff0000u ? 1 : 0);
}}
"""
    x, y, z = np.float32([1.5, -2, 0.25, 8]), np.zeros(10, "f4"), np.zeros(4, "i4")
    launch(source, "pairs", 1, 1, x, y, z)
    assert y.tolist() == [1.75, 6, 1.5 * 0.25 + 1.75, -16 + 6, 1.5, 8, -2, 1.5, 0, 1] and z.tolist() == [1, 4, 4, 1]


# Words, types, barriers

VECTORS = {"char": 1, "uchar": 1, "short": 2, "ushort": 2, "int": 4, "uint": 4, "long": 8, "ulong": 8, "longlong": 8, "ulonglong": 8,
    "float": 4, "double": 8}


def test_vector_types_lie_in_memory_as_on_a_card():
    facts = []
    for kind, size in VECTORS.items():
        for n in (1, 2, 3, 4):
            if n == 4 and size == 8: continue         # CUDA 13 warns of double4: its alignment will change
            align = size if n == 3 else min(16, size * n)
            facts += [f"static_assert(sizeof({kind}{n}) == {size * n} && alignof({kind}{n}) == {align}, \"{kind}{n}\");\n"]
    source = "".join(facts) + """
extern "C" __global__ void vectors(const float4 *x, double *y) {
    float4 v = x[threadIdx.x];
    uchar4 c = make_uchar4(1, 2, 3, 255); longlong2 l = make_longlong2(-1, 1ll << 40); double3 d = make_double3(v.x, v.y, v.z);
    y[0] = d.x + d.y + d.z + v.w + c.w + (double)l.y;
}
"""
    y = np.zeros(1)
    launch(source, "vectors", 1, 1, np.arange(4, dtype="f4"), y)
    assert y[0] == 6 + 255 + 2.0 ** 40


def test_wide_vectors_are_aligned_to_16():
    source = 'static_assert(alignof(double4) == 16 && sizeof(double4) == 32, "");\nextern "C" __global__ void nothing(double4 *p) {}\n'
    RawKernel(source, "nothing")((1,), (1,), (np.zeros(4),))


def test_places_and_barriers():
    source = r"""
extern "C" __global__ void places(int *where, int *votes) {
    int i = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z), b = blockIdx.x + gridDim.x * blockIdx.y;
    int n = blockDim.x * blockDim.y * blockDim.z;
    where[b * n + i] = 1000 * b + i;
    votes[(b * n + i) * 3] = __syncthreads_count(i % 3 == 0);
    votes[(b * n + i) * 3 + 1] = __syncthreads_and(i < n - b);
    votes[(b * n + i) * 3 + 2] = __syncthreads_or(i == n + b - 1);
    __threadfence();
}
"""
    where, votes = np.zeros((6, 24), "i4"), np.zeros((6, 24, 3), "i4")
    valid(source)
    RawKernel(source, "places")((3, 2), (4, 3, 2), (where, votes))
    assert np.array_equal(where, 1000 * np.arange(6)[:, None] + np.arange(24))
    assert np.all(votes[..., 0] == 8) and np.array_equal(votes[:, 0, 1], [1, 0, 0, 0, 0, 0]) and np.array_equal(votes[:, 0, 2], [1, 0, 0,
        0, 0, 0])


def test_qualifiers_templates_constants():
    source = r"""
#include <cuda_runtime.h>
#include <math_constants.h>
__constant__ float weights[4] = {1, 2, 3, 4};
__device__ int calls;
struct __align__(16) Packed { float a, b, c; };
template <class T, int N> __device__ __forceinline__ T total(const T *__restrict__ p) {
    T sum = 0;
    #pragma unroll
    for (int i = 0; i < N; i++) sum += p[i];
    return sum;
}
template <int N> __global__ void __launch_bounds__(64, 2) reversed(float *x) {
    __shared__ float tile[N];
    extern __shared__ float more[];
    tile[threadIdx.x] = x[threadIdx.x]; more[threadIdx.x] = total<float, 4>(weights);
    __syncthreads();
    x[threadIdx.x] = tile[N - 1 - threadIdx.x] + more[(threadIdx.x + 1) % N] + (CUDART_INF_F > 1 ? 1 : 0) + sizeof(Packed);
}
template __global__ void reversed<32>(float *);
"""
    x = np.arange(32, dtype="f4")
    module = RawModule(code=source, name_expressions=("reversed<32>",))
    module.get_function("reversed<32>")((1,), (32,), (x,), shared_mem=128)
    assert np.array_equal(x, np.arange(32)[::-1] + 10 + 1 + 16)
    valid(source)


@pytest.mark.parametrize("line, words", [("assert(x[0] > 0);", "line 3"), ("__trap();", "line 3"), ("__shfl_sync(~0u, 1, 0, 5);",
    "line 3")])
def test_faults_name_their_line(line, words):
    source = f'extern "C" __global__ void faulty(float *x) {{\n    x[1] = 1;\n    {line}\n}}\n'
    with pytest.raises(Exception, match=words): RawKernel(source, "faulty")((1,), (32,), (np.zeros(2, "f4"),))


@pytest.mark.parametrize("source, words", [
    ('extern "C" __global__ void f(int *x) {\n    asm volatile("mov.u32 %0, %laneid;" : "=r"(x[0]));\n}\n',
        "inline PTX cannot run in the simulator"),
    ('#include <curand_kernel.h>\nextern "C" __global__ void f(int *x) {}\n', "curand is not part of the simulator"),
    ('extern "C" __global__ void f(float2 *x) { x[0] = __shfl_sync(~0u, x[0], 0); }\n', "a shuffle moves"),
    ('extern "C" __global__ void f(float *x) { half h = x[0]; }\n', "half"),
    ('#include <mma.h>\nusing namespace nvcuda;\nextern "C" __global__ void f(float *x) {\n'
     '    wmma::fragment<wmma::matrix_a, 16, 16, 4, half, wmma::row_major> a;\n}\n', "shapes: 16x16x16")])
def test_what_cannot_be_done_says_so(source, words):
    with pytest.raises(Exception, match=words): RawKernel(source, "f")((1,), (1,), (np.zeros(2, "i4" if "int *x" in source else "f4"),))


# Warps

@pytest.mark.parametrize("width", [32, 16, 8, 4, 2, 1])
def test_shuffles_of_each_width(width):
    source = f"""
extern "C" __global__ void shuffles(int *out) {{
    int v = 100 + threadIdx.x, *o = out + threadIdx.x * 8;
    o[0] = __shfl_sync(~0u, v, 3, {width}); o[1] = __shfl_sync(~0u, v, threadIdx.x + 1, {width});
    o[2] = __shfl_up_sync(~0u, v, 1, {width}); o[3] = __shfl_up_sync(~0u, v, 5, {width});
    o[4] = __shfl_down_sync(~0u, v, 1, {width}); o[5] = __shfl_down_sync(~0u, v, 5, {width});
    o[6] = __shfl_xor_sync(~0u, v, 1, {width}); o[7] = __shfl_xor_sync(~0u, v, 12, {width});
}}
"""
    out = np.zeros((32, 8), "i4")
    launch(source, "shuffles", 1, 32, out)
    lane = np.arange(32)
    first = lane - lane % width
    def keep(source, good): return 100 + np.where(good, source, lane)
    want = [100 + first + 3 % width, 100 + first + (lane + 1) % width] + [keep(lane - d, lane - d >= first) for d in (1, 5)] + [
        keep(lane + d, lane + d < first + width) for d in (1, 5)] + [keep(lane ^ x, (lane ^ x) < first + width) for x in (1, 12)]
    assert np.array_equal(out, np.stack(want, 1))


def test_shuffles_of_each_type():
    source = r"""
#include <cuda_fp16.h>
#include <cuda_bf16.h>
template <class T> __device__ int turn(T v) { return (float)__shfl_sync(0xffffffff, v,
    (threadIdx.x + 1) % 32) == (float)((threadIdx.x + 1) % 32); }
extern "C" __global__ void types(int *good) {
    int i = threadIdx.x;
    half2 pair = __shfl_xor_sync(0xffffffff, __floats2half2_rn(i, -i), 1);
    good[i] = turn((int)i) + turn((unsigned)i) + turn((long)i) + turn((unsigned long)i) + turn((long long)i) + turn((unsigned long long)i)
            + turn((float)i) + turn((double)i) + turn(__float2half(i)) + turn(__float2bfloat16(i)) + (__low2float(pair) == (i ^ 1)
                && __high2float(pair) == -(i ^ 1));
}
"""
    good = np.zeros(32, "i4")
    launch(source, "types", 1, 32, good)
    assert np.all(good == 11)


def test_votes_reductions_matches(rng):
    source = r"""
extern "C" __global__ void votes(const int *x, unsigned *out) {
    int i = threadIdx.x, v = x[i], same;
    unsigned mask = i < 20 ? 0xfffffu : 0xfff00000u, *o = out + 14 * i;
    o[0] = __ballot_sync(mask, v > 2); o[1] = __any_sync(mask, v == 1); o[2] = __all_sync(mask, v < 5);
    o[3] = __match_any_sync(mask, v); o[4] = __match_all_sync(mask, v, &same); o[5] = same;
    o[6] = __reduce_add_sync(mask, v); o[7] = __reduce_min_sync(mask, v); o[8] = __reduce_max_sync(mask, v);
    o[9] = __reduce_and_sync(mask, (unsigned)v); o[10] = __reduce_or_sync(mask, (unsigned)v); o[11] = __reduce_xor_sync(mask, (unsigned)v);
    o[12] = __match_all_sync(mask, 1.5f, &same); o[13] = __match_any_sync(mask, (double)(v < 0 ? 0 : 1));
}
"""
    x, out = rng.integers(-3, 6, 32).astype("i4"), np.zeros((32, 14), "u4")
    launch(source, "votes", 1, 32, x, out)
    for lanes in (range(20), range(20, 32)):
        v = [int(x[lane]) for lane in lanes]
        def ballot(good): return sum(1 << lane for lane, yes in zip(lanes, good) if yes)   # noqa: B023
        u = [n & 0xffffffff for n in v]
        for lane in lanes:
            mine = int(x[lane])
            want = [ballot(n > 2 for n in v), any(n == 1 for n in v), all(n < 5 for n in v), ballot(n == mine for n in v), 0, 0,
                    sum(v), min(v), max(v), np.bitwise_and.reduce(u), np.bitwise_or.reduce(u), np.bitwise_xor.reduce(u),
                    ballot(True for n in v), ballot((n < 0) == (mine < 0) for n in v)]
            assert out[lane].tolist() == [int(n) & 0xffffffff for n in want]


def test_cooperative_groups():
    source = r"""
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void groups(int *out) {
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    int *o = out + 6 * block.thread_rank();
    o[0] = cg::reduce(tile, (int)threadIdx.x, cg::plus<int>());
    o[1] = tile.shfl_down(threadIdx.x, 1);
    o[2] = tile.ballot(threadIdx.x % 2);
    o[3] = tile.meta_group_rank() * 100 + tile.thread_rank();
    o[4] = cg::reduce(tile, (int)threadIdx.x, cg::greater<int>());
    o[5] = tile.size() + block.size();
    tile.sync();
    block.sync();
}
"""
    out, i = np.zeros((64, 6), "i4"), np.arange(64)
    launch(source, "groups", 1, 64, out)
    first = i // 8 * 8
    want = [8 * first + 28, np.minimum(i + 1, first + 7), 0xaa + 0 * i, i // 8 * 100 + i % 8, first + 7, 72 + 0 * i]
    assert np.array_equal(out, np.stack(want, 1))


# Atomics

def test_atomics_under_contention():
    source = r"""
#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C" __global__ void atomics(int *i, unsigned *u, unsigned long long *w, float *f, double *d, unsigned short *h) {
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&i[0], 1); atomicSub(&i[1], 2); atomicMax(&i[2], (int)t - 5); atomicMin(&i[3], 5 - (int)t); atomicExch(&i[4], 7);
    atomicAdd(&u[0], t); atomicInc(&u[1], 9u); atomicDec(&u[2], 9u); atomicAnd(&u[3], ~(1u << (t % 32))); atomicOr(&u[4],
        1u << (t % 32)); atomicXor(&u[5], t);
    atomicAdd(&w[0], 1ull << 33); atomicMax(&w[1], (unsigned long long)t << 32); atomicCAS(&w[2], (unsigned long long)t,
        (unsigned long long)t + 1);
    atomicAdd(&f[0], 0.5f); atomicAdd(&d[0], 0.25); atomicAdd_block(&i[5], 1); atomicAdd_system(&i[6], 1);
    atomicAdd((half *)&h[0], __float2half(1.0f)); atomicAdd((half2 *)&h[2], __floats2half2_rn(1.0f, 2.0f));
    atomicAdd((__nv_bfloat16 *)&h[4], __float2bfloat16(1.0f));
    int old = atomicCAS(&i[7], 0, (int)t + 1);
    if (old == 0) atomicAdd(&i[8], 1);
}
"""
    i, u, w, f, d, h = np.zeros(9, "i4"), np.zeros(6, "u4"), np.zeros(3, "u8"), np.zeros(1, "f4"), np.zeros(1), np.zeros(6, "u2")
    u[3] = 0xffffffff
    launch(source, "atomics", 4, 64, i, u, w, f, d, h)
    assert i[[0, 1, 2, 3, 4, 5, 6, 8]].tolist() == [256, -512, 250, -250, 7, 256, 256, 1] and 1 <= i[7] <= 256
    down = 0
    for _ in range(256): down = 9 if down == 0 or down > 9 else down - 1
    assert u.tolist() == [sum(range(256)), 256 % 10, down, 0, 0xffffffff, 0]
    assert w[0] == 256 << 33 and w[1] == 255 << 32 and f[0] == 128 and d[0] == 64
    assert h[[0, 2, 3]].view("f2").tolist() == [256, 256, 512] and h[4:5].view(BFLOAT16)[0] == 256


# Arithmetic

def test_integer_functions(rng):
    a, b = rng.integers(0, 2 ** 32, (2, 500), dtype="u4")
    a[:4], b[:4] = [0, 1, 0x80000000, 0xffffffff], [0, 31, 32, 33]
    x, y = a.astype(object), b.astype(object)
    si, sj = a.view("i4").astype(object), b.view("i4").astype(object)
    bytes_ = lambda v: [(v >> s) & 255 for s in (0, 8, 16, 24)]
    signed = lambda v: [n - 256 if n > 127 else n for n in bytes_(v)]
    wide = [p | q << 32 for p, q in zip(x, y)]
    want = {
        "__popc(a)": [p.bit_count() for p in x], "__clz(a)": [32 - p.bit_length() for p in x],
            "__ffs(a)": [(p & -p).bit_length() for p in x],
        "__brev(a)": [int(f"{p:032b}"[::-1], 2) for p in x], "__umulhi(a, b)": [p * q >> 32 for p, q in zip(x, y)],
        "__mulhi((int)a, (int)b)": [p * q >> 32 for p, q in zip(si, sj)],
        "__umul24(a, b)": [(p & 0xffffff) * (q & 0xffffff) for p, q in zip(x, y)],
        "__funnelshift_l(a, b, 5)": [w << 5 >> 32 for w in wide], "__funnelshift_r(a, b, 37)": [w >> 5 for w in wide],
        "__funnelshift_lc(a, b, 40)": list(x), "__funnelshift_rc(a, b, 32)": list(y),
        "__byte_perm(a, b, 0x6240)": [bytes_(p)[0] | bytes_(q)[0] << 8 | bytes_(p)[2] << 16 | bytes_(q)[2] << 24 for p, q in zip(x, y)],
        "__dp4a(a, b, 7u)": [sum(m * n for m, n in zip(bytes_(p), bytes_(q))) + 7 for p, q in zip(x, y)],
        "__dp4a((int)a, (int)b, -7)": [sum(m * n for m, n in zip(signed(p), signed(q))) - 7 for p, q in zip(x, y)],
        "__usad(a, b, 1u)": [abs(p - q) + 1 for p, q in zip(x, y)], "__sad((int)a, (int)b, 1u)": [abs(p - q) + 1 for p, q in zip(si, sj)],
        "__hadd((int)a, (int)b)": [(p + q) >> 1 for p, q in zip(si, sj)], "__urhadd(a, b)": [(p + q + 1) >> 1 for p, q in zip(x, y)],
        "max((int)a, (int)b)": [max(p, q) for p, q in zip(si, sj)], "min(a, b)": [min(p, q) for p, q in zip(x, y)],
        "__popcll((unsigned long long)b << 32 | a)": [w.bit_count() for w in wide],
        "__clzll((long long)((unsigned long long)b << 32 | a))": [64 - w.bit_length() for w in wide],
        "(unsigned)(__brevll((unsigned long long)b << 32 | a) >> 32)": [int(f"{w:064b}"[::-1], 2) >> 32 for w in wide],
        "(unsigned)__umul64hi((unsigned long long)b << 32 | a, 0x9e3779b97f4a7c15ull)": [w * 0x9e3779b97f4a7c15 >> 64 for w in wide],
    }
    for (name, expected), row in zip(want.items(), table(list(want), {"a": a, "b": b}, "u4")):
        assert row.tolist() == [v & 0xffffffff for v in expected], name


def test_directed_rounding(rng):
    a, b, c = rng.normal(size=(3, 2000)).astype("f4") * np.float32(10) ** rng.integers(-10, 10, (3, 2000)).astype("f4")
    exact = {"add": lambda p, q, r: p + q, "mul": lambda p, q, r: p * q}
    formulas = [f"__f{name}_{way}(a, b)" for name in exact for way in ("rn", "rz", "ru", "rd")] + [f"__fdiv_{w}(a, b)" for w in ("rn",
        "rz", "ru", "rd")]
    rows = table(formulas, {"a": a, "b": b}, "f4").reshape(3, 4, -1)
    for name, (rn, rz, ru, rd) in zip(("add", "mul", "div"), rows):
        for k in range(0, 2000, 7):
            p, q = Fraction(float(a[k])), Fraction(float(b[k]))
            true = p + q if name == "add" else p * q if name == "mul" else p / q
            low, high = Fraction(float(rd[k])), Fraction(float(ru[k]))
            assert low <= true <= high and (low == high or np.nextafter(rd[k], np.float32(np.inf)) == ru[k]), name
            assert rz[k] == (rd[k] if true > 0 else ru[k]) and rn[k] in (rd[k], ru[k])
    same(rows[0][0], a + b), same(rows[1][0], a * b), same(rows[2][0], a / b)


def test_conversions():
    x = np.array([2.5, 3.5, -2.5, 1e10, -1e10, np.nan, 0.49999997, -0.5, 4294967040.0], "f4")
    signed = table([f"__float2int_{way}(a)" for way in ("rn", "rz", "ru", "rd")], {"a": x}, "i4")
    with np.errstate(all="ignore"):
        for row, step in zip(signed, (np.rint, np.trunc, np.ceil, np.floor)):
            assert row.tolist() == np.clip(np.nan_to_num(step(x.astype("f8"))), -2 ** 31, 2 ** 31 - 1).tolist()
    assert table(["__float2uint_rn(a)"], {"a": x}, "u4")[0].tolist() == [2, 4, 0, 2 ** 32 - 1, 0, 0, 0, 0, 4294967040]
    big = np.array([2 ** 24 + 1, -(2 ** 24 + 1), 2 ** 62 + 1, 5], "i8")
    rows = table([f"__ll2float_{way}(a)" for way in ("rn", "rz", "ru", "rd")], {"a": big}, "f4")
    assert rows[2].astype("f8").tolist() == [2 ** 24 + 2, -2 ** 24, float(np.nextafter(np.float32(2 ** 62), np.float32(np.inf))), 5]
    assert rows[3].astype("f8").tolist() == [2 ** 24, -2 ** 24 - 2, 2 ** 62, 5] and rows[1].astype("f8").tolist() == [2 ** 24, -2 ** 24,
        2 ** 62, 5]
    y = np.array([0.1, -0.1, 1e300])
    up, down = table(["__double2float_ru(a)", "__double2float_rd(a)"], {"a": y}, "f4").astype("f8")
    assert up[2] == np.inf and down[2] == np.finfo("f4").max and down[0] < 0.1 < up[0] and down[1] < -0.1 < up[1]


def test_mathematics(rng):
    x = np.concatenate([rng.uniform(-3, 3, 500), [0.0, 1.0, -1.0]]).astype("f4")
    d, erf = x.astype("f8"), np.vectorize(math.erf)
    with np.errstate(all="ignore"):
        want = {"__expf(a)": np.exp(d), "exp10f(a)": 10 ** d, "__sinf(a)": np.sin(d), "rsqrtf(fabsf(a))": 1 / np.sqrt(np.abs(d)),
            "sinpif(a)": np.sin(np.pi * d),
                "__fdividef(a, 3.0f)": d / 3, "__saturatef(a)": np.clip(d, 0, 1), "erff(a)": erf(d), "tanhf(a)": np.tanh(d),
                    "expm1f(a)": np.expm1(d),
                "log1pf(fabsf(a))": np.log1p(np.abs(d)), "normcdff(a)": (1 + erf(d / np.sqrt(2))) / 2, "erfinvf(erff(a / 3))": d / 3,
                "normcdfinvf(normcdff(a / 2))": d / 2, "cbrtf(a)": np.cbrt(d), "powf(fabsf(a), 1.7f)": np.abs(d) ** np.float32(1.7),
                    "max(a, 0.5f)": np.maximum(d, 0.5),
                "fmaxf(a, CUDA_NAN)": d, "norm3df(a, 1.0f, 2.0f)": np.sqrt(d * d + 5), "__powf(2.0f, a)": 2 ** d, "exp(a)": np.exp(d),
                    "abs(a)": np.abs(d),
                "rcbrtf(1.0f + fabsf(a))": np.cbrt(1 + np.abs(d)) ** -1, "erfcinvf(erfcf(a / 3))": d / 3,
                    "lgammaf(fabsf(a) + 1)": np.vectorize(math.lgamma)(np.abs(d) + 1),
                "erfcxf(fabsf(a))": np.exp(d * d) * np.vectorize(math.erfc)(np.abs(d))}
    rows = table(list(want), {"a": x}, "f4", before="#define CUDA_NAN __int_as_float(0x7fffffff)\n")
    for (name, expected), row in zip(want.items(), rows): np.testing.assert_allclose(row, expected, rtol=2e-6, atol=3e-7, err_msg=name)
    pair = table(["[&] { float s, c; sincosf(a, &s, &c); return s * s + c * c; }()",
        "[&] { float s, c; sincospif(a, &s, &c); return s; }()"], {"a": x}, "f4")
    np.testing.assert_allclose(pair, [np.ones_like(d), np.sin(np.pi * d)], atol=1e-6)


# Tensor cores

def matrix(rng, kind, shape):
    "Random values of a type of tensor cores, as bits for the kernel and as float64."
    if kind in HALVES:
        x = rng.normal(size=shape).astype(HALVES[kind])
        return x.view("u2"), x.astype("f8")
    if kind == "tf32":
        x = rng.normal(size=shape).astype("f4")
        return x, ((x.view("u4") + 0x1000) & 0xffffe000).view("f4").astype("f8")
    x = rng.integers(-128, 128, shape).astype("i1") if kind == "signed char" else rng.integers(0, 256, shape).astype("u1")
    return x, x.astype("f8")


WMMA = r"""
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void product(const %(given)s *a, const %(given)s *b, %(sum)s *d) {
    wmma::fragment<wmma::matrix_a, %(m)d, %(n)d, %(k)d, %(type)s, wmma::%(la)s> fa;
    wmma::fragment<wmma::matrix_b, %(m)d, %(n)d, %(k)d, %(type)s, wmma::%(lb)s> fb;
    wmma::fragment<wmma::accumulator, %(m)d, %(n)d, %(k)d, %(acc)s> fc, fd;
    wmma::load_matrix_sync(fa, (const %(read)s *)a, %(lda)d);
    wmma::load_matrix_sync(fb, (const %(read)s *)b, %(ldb)d);
    wmma::load_matrix_sync(fc, (const %(acc)s *)d, %(n)d, wmma::mem_row_major);
    %(cut)s
    wmma::mma_sync(fd, fa, fb, fc);
    wmma::mma_sync(fd, fa, fb, fd);
    wmma::store_matrix_sync((%(acc)s *)d, fd, %(n)d, wmma::mem_row_major);
}
"""
SHAPES = [(16, 16, 16), (32, 8, 16), (8, 32, 16)]
TENSOR = [(kind, shape, "float") for kind in ("half", "bfloat16") for shape in SHAPES] + [("half", shape, "half") for shape in SHAPES] + [
    (kind, shape, "int") for kind in ("signed char", "unsigned char") for shape in SHAPES] + [("tf32", (16, 16, 8), "float")]


@pytest.mark.parametrize("kind, shape, acc", TENSOR)
def test_tensor_cores(kind, shape, acc, rng):
    m, n, k = shape
    la, lb = "col_major" if m == 8 and acc != "int" else "row_major", "row_major" if m == 8 else "col_major"
    (a, da), (b, db) = matrix(rng, kind, (m, k)), matrix(rng, kind, (k, n))
    d = {"float": rng.normal(size=(m, n)).astype("f4"), "half": rng.normal(size=(m, n)).astype("f2"), "int": rng.integers(-9, 9, (m,
        n)).astype("i4")}[acc]
    start = d.astype("f8")
    words = dict(m=m, n=n, k=k, la=la, lb=lb, lda=k if la == "row_major" else m, ldb=n if lb == "row_major" else k, acc=acc,
                 given={"half": "unsigned short", "bfloat16": "unsigned short", "tf32": "float"}.get(kind, kind),
                     sum="unsigned short" if acc == "half" else acc,
                 type={"bfloat16": "__nv_bfloat16", "tf32": "wmma::precision::tf32"}.get(kind, kind), read={"bfloat16": "__nv_bfloat16",
                     "tf32": "float"}.get(kind, kind),
                 cut="for (int i = 0; i < fa.num_elements; i++) fa.x[i] = wmma::__float_to_tf32(fa.x[i]);\n"
                     "    for (int i = 0; i < fb.num_elements; i++) fb.x[i] = wmma::__float_to_tf32(fb.x[i]);" if kind == "tf32" else "")
    lay = lambda x, by: np.ascontiguousarray(x if by == "row_major" else x.T)
    raw = d.view("u2") if acc == "half" else d
    launch(WMMA % words, "product", 1, 32, lay(a, la), lay(b, lb), raw)
    product = da @ db
    if acc == "int": assert np.array_equal(d, start + 2 * product)
    elif acc == "float": np.testing.assert_allclose(d, start + 2 * product, rtol=0, atol=2e-5)
    else:
        first = rounded(start + product, np.float16).astype("f8")
        np.testing.assert_allclose(d.astype("f8"), rounded(first + product, np.float16).astype("f8"), rtol=2e-3, atol=2e-3)


def test_tf32_reads_ten_bits():
    source = r"""
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void cut(const float *x, float *near, float *d) {
    near[threadIdx.x] = wmma::__float_to_tf32(x[threadIdx.x]);
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> c;
    wmma::fill_fragment(a, x[0]); wmma::fill_fragment(b, 1.0f); wmma::fill_fragment(c, 0.0f);
    wmma::mma_sync(c, a, b, c);
    wmma::store_matrix_sync(d, c, 16, wmma::mem_col_major);
}
"""
    x, near, d = np.full(32, 1024.5, "f4"), np.zeros(32, "f4"), np.zeros(256, "f4")
    x[1:4] = [-1024.5, 1 + 2 ** -11, np.inf]
    launch(source, "cut", 1, 32, x, near, d)
    assert near[:4].tolist() == [1025, -1025, 1 + 2 ** -10, np.inf], "nearest, ties away from zero"
    assert np.all(d == 8 * 1024), "the unit cuts what was not rounded"


def test_satf_and_alignment():
    source = r"""
#include <mma.h>
using namespace nvcuda;
extern "C" __global__ void full(int *d, int shift) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> c;
    wmma::fill_fragment(a, 127); wmma::fill_fragment(b, 127); wmma::fill_fragment(c, 2147483000);
    wmma::mma_sync(c, a, b, c, true);
    wmma::store_matrix_sync(d + shift, c, 16, wmma::mem_row_major);
}
"""
    d = np.zeros(264, "i4")
    launch(source, "full", 1, 32, d, np.int32(0))
    assert np.all(d[:256] == 2 ** 31 - 1)
    with pytest.raises(Exception, match="line 10"): RawKernel(source, "full")((1,), (32,), (d, np.int32(4)))

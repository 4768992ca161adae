"""Counts of checked mode whose values are known: sectors, bank conflicts, divergence, barriers, operations."""
import math

import numpy as np
import pytest

from tfedu.kernels.report import check
from tfedu.kernels.simulator import RawModule

SOURCE = r"""
#include <cuda_fp16.h>
template <int STEP> __global__ void strided(const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[STEP * i];
}
extern "C" __global__ void column(const float *x, float *y) {
    y[threadIdx.x] = x[threadIdx.x * 128];
}
extern "C" __global__ void same(const float *x, float *y) {
    y[threadIdx.x] = x[7];
}
extern "C" __global__ void shifted(const float *x, float *y) {
    y[threadIdx.x] = x[threadIdx.x + 1];
}
extern "C" __global__ void halves(const __half *x, __half *y) {
    y[threadIdx.x] = x[threadIdx.x];
}
extern "C" __global__ void vectors(const float4 *x, float4 *y) {
    y[threadIdx.x] = x[threadIdx.x];
}
template <int PITCH> __global__ void transpose(const float *x, float *y) {
    __shared__ float tile[32][PITCH];
    int column = threadIdx.x;
    for (int row = threadIdx.y; row < 32; row += 8)
        tile[row][column] = x[row * 32 + column];
    __syncthreads();
    for (int row = threadIdx.y; row < 32; row += 8)
        y[row * 32 + column] = tile[column][row];
}
extern "C" __global__ void banks(int step, float *y) {
    __shared__ float s[32 * 64];
    s[threadIdx.x * step] = 1.f;
    __syncthreads();
    y[threadIdx.x] = s[threadIdx.x * step];
}
extern "C" __global__ void broadcast(float *y) {
    __shared__ float s[32];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    y[threadIdx.x] = s[5];
}
extern "C" __global__ void shared_vectors(float4 *y) {
    __shared__ float4 s[32];
    s[threadIdx.x] = make_float4(1.f, 2.f, 3.f, 4.f);
    __syncthreads();
    y[threadIdx.x] = s[threadIdx.x];
}
extern "C" __global__ void histogram(const int *x, int *y) {
    __shared__ int bins[32];
    bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[x[threadIdx.x] / 8], 1);
    __syncthreads();
    y[threadIdx.x] = bins[threadIdx.x];
}
extern "C" __global__ void divergent(const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i % 2) y[i] = x[i] + 1.f;
    if (threadIdx.x < 32) y[i] = x[i];
}
extern "C" __global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
"""
MODULE = RawModule(code=SOURCE, name_expressions=["strided<1>", "strided<2>", "strided<8>", "transpose<32>", "transpose<33>"])


def report(name, grid, block, *args, **how):
    result = check(MODULE.get_function(name), grid, block, args, **how)
    assert result.findings == []
    return result


def floats(n=8192): return np.arange(n, dtype=np.float32)


def cost(name, grid, block, *args, space="global", access="load", **how):
    "Transactions a request of the one line that accesses memory so."
    found = [c for c in report(name, grid, block, *args, **how).counts if (c.space, c.access) == (space, access)]
    assert len(found) == 1
    return found[0].per_request


KNOWN = {"strided<1>": 4, "strided<2>": 8, "strided<8>": 32, "column": 32, "same": 1, "shifted": 5}


@pytest.mark.parametrize("name, sectors", KNOWN.items())
def test_sectors_of_floats(name, sectors):
    assert cost(name, 1, 64, floats(), floats()) == sectors
    assert cost(name, 1, 64, floats(), floats(), access="store") == 4


def test_sectors_of_halves_and_vectors():
    assert cost("halves", 1, 64, np.zeros(64, np.float16), np.zeros(64, np.float16)) == 2
    assert cost("vectors", 1, 64, floats(256), floats(256)) == 16
    assert cost("vectors", 1, 64, floats(256), floats(256), access="store") == 16


@pytest.mark.parametrize("order", ["up", "down", "random"])
def test_transposes(order):
    args = floats(1024), floats(1024)
    assert cost("transpose<32>", 1, (32, 8), *args, space="shared", order=order) == 32
    assert cost("transpose<33>", 1, (32, 8), *args, space="shared", order=order) == 1
    result = report("transpose<33>", 1, (32, 8), *args, order=order)
    assert all(c.transactions == c.ideal and c.requests == 32 for c in result.counts)
    assert list(result.barriers.values()) == [1]
    np.testing.assert_array_equal(args[1].reshape(32, 32), args[0].reshape(32, 32).T)


@pytest.mark.parametrize("step", [1, 2, 3, 4, 5, 6, 8, 12, 16, 31, 32, 33, 48, 63])
def test_bank_conflicts_of_a_stride(step):
    for access in ("load", "store"):
        assert cost("banks", 1, 32, np.int32(step), floats(32), space="shared", access=access) == math.gcd(step, 32)


def test_broadcast_and_vectors_in_shared_memory():
    assert cost("broadcast", 1, 32, floats(32), space="shared") == 1
    assert cost("shared_vectors", 1, 32, floats(128), space="shared") == 4
    ideal = [c.ideal for c in report("shared_vectors", 1, 32, floats(128)).counts if c.space == "shared"]
    assert ideal == [4, 4]


def test_atomics_on_one_word_take_turns():
    assert cost("histogram", 1, 32, np.arange(32, dtype=np.int32), np.zeros(32, np.int32), space="shared", access="atomic") == 8


def test_divergence():
    result = report("divergent", 2, 64, floats(128), floats(128))
    assert [(b.warps, b.divergent) for b in result.branches] == [(4, 4), (4, 0)]


def test_branches_are_the_own_ones():
    "Not those of functions of the header, nor of what is added behind the source."
    code = """extern "C" __global__ void f(float *x) {
        int i = threadIdx.x;
        atomicAdd(x, fmaxf(floorf(x[i]), 0) + powf(i, 2));
        if (i < 3)
            x[i] = __shfl_xor_sync(7, x[i], 0); }"""
    result = check(RawModule(code=code).get_function("f"), 1, 32, (floats(32),))
    assert [(b.line, b.divergent) for b in result.branches] == [(4, 1)]


def test_operations_and_bytes():
    n = 1000
    result = report("saxpy", 8, 128, np.int32(n), np.float32(2), floats(n), floats(n), blocks=8)
    if result.flops is not None: assert result.flops == 2 * n
    assert result.bytes == 3 * 4 * n and result.blocks == 8
    if result.flops is not None: assert result.intensity == pytest.approx(2 / 12)


def test_as_many_blocks_as_asked_for():
    args = np.int32(1000), np.float32(2), floats(1000), floats(1000)
    assert [report("saxpy", 8, 128, *args, blocks=blocks).blocks for blocks in (0, 1, 3)] == [0, 1, 3]
    assert report("saxpy", 8, 128, *args, blocks=0).counts == []


def test_accesses_tell_who_touched_what():
    a = report("saxpy", 8, 128, np.int32(1000), np.float32(2), floats(1000), floats(1000), blocks=1).accesses
    assert len(a) == 3 * 128 and set(a["argument"].tolist()) == {2, 3} and set(a["line"].tolist()) == {a["line"][0]}
    lane = a[a["thread"] == 5]
    assert lane["step"].tolist() == [0, 1, 2] and lane["offset"].tolist() == [20, 20, 20] and lane["write"].tolist() == [False, False, True]

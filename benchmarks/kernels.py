"""How fast is the simulator? Processor time on one core, of launches and of three kernels.

usage: kernels.py [PROTOTYPE]     folder of an older simulator (with cusim.py) to compare with, in the same run

Prints milliseconds, and with a prototype the ratios that matter: at most 1.2 for the kernels, 2 for a launch (saxpy), and 1.5 in checked
mode. A checked launch runs in a helper, a copy of this process that is kept for the next launch, and whose time counts too; what the
system asks for such a copy is shown as "fork". "cached" is what it takes to get a kernel ready that has been compiled before, by this or
another process.
"""
import argparse
import os
import resource
import sys
import time

import numpy as np

from tfedu.kernels.hooks import HELPERS
from tfedu.kernels.kernel import Kernel
from tfedu.kernels.simulator import RawKernel

SAXPY = r"""
extern "C" __global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
"""
TILED = r"""
#define TILE 16
extern "C" __global__ void tiled(const float *a, const float *b, float *c, int m, int n, int k) {
    __shared__ float s[TILE][TILE], t[TILE][TILE];
    int column = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.y;
    float sum = 0;
    for (int start = 0; start < k; start += TILE) {
        s[threadIdx.y][threadIdx.x] = a[row * k + start + threadIdx.x];
        t[threadIdx.y][threadIdx.x] = b[(start + threadIdx.y) * n + column];
        __syncthreads();
        for (int i = 0; i < TILE; i++) sum += s[threadIdx.y][i] * t[i][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
"""
WMMA = r"""
#include <mma.h>
#include <cuda_fp16.h>
using namespace nvcuda;
extern "C" __global__ void tensor(const half *a, const half *b, float *c, int m, int n, int k) {
    int row = blockIdx.y * 16, column = (blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32) * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int i = 0; i < k; i += 16) {
        wmma::load_matrix_sync(left, a + row * k + i, k);
        wmma::load_matrix_sync(right, b + i * n + column, n);
        wmma::mma_sync(sum, left, right, sum);
    }
    wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}
"""
SOFTMAX = r"""
extern "C" __global__ void softmax(const float *x, float *y, int rows, int columns) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    x += row * columns; y += row * columns;
    float most = __int_as_float(0xff800000), sum = 0;
    for (int j = lane; j < columns; j += 32) most = fmaxf(most, x[j]);
    for (int o = 16; o; o /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, o));
    for (int j = lane; j < columns; j += 32) sum += __expf(x[j] - most);
    for (int o = 16; o; o /= 2) sum += __shfl_xor_sync(0xffffffff, sum, o);
    for (int j = lane; j < columns; j += 32) y[j] = __expf(x[j] - most) / sum;
}
"""


def cases():
    "Name, source, grid, block, arguments, and the right answer for the argument at a position."
    rng, n = np.random.default_rng(0), 256
    a, b = rng.normal(size=(2, n, n)).astype("f4")
    x, sizes = rng.normal(size=(512, 512)).astype("f4"), (np.int32(n),) * 3
    soft = np.exp(x - x.max(1, keepdims=True))
    half = a.astype("f2"), b.astype("f2")
    few = np.ones(1000, "f4")
    return [("saxpy", SAXPY, (4,), (256,), (np.int32(1000), np.float32(2), few, few.copy()), 3, 3 * few),
            ("tiled", TILED, (16, 16), (16, 16), (a, b, np.zeros((n, n), "f4"), *sizes), 2, a @ b),
            ("tensor", WMMA, (4, 16), (128,), (*half, np.zeros((n, n), "f4"), *sizes), 2, half[0].astype("f4") @ half[1].astype("f4")),
            ("softmax", SOFTMAX, (64,), (256,), (x, np.zeros_like(x), np.int32(512), np.int32(512)), 1, soft / soft.sum(1, keepdims=True))]


def spent():
    "Processor time of this process, of the children that have ended, and of the helper of checked mode, in milliseconds."
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    helping = [time.clock_gettime(~helper.process << 3 | 2) for helper in HELPERS]     # how Linux numbers the clock of another process
    return 1e3 * (sum(u.ru_utime + u.ru_stime for u in used) + sum(helping))


def fastest(*functions, rounds):
    "The least processor time of each function, in milliseconds; they take turns, so that all see the same weather."
    best = [float("inf")] * len(functions)
    for _ in range(rounds):
        for i, f in enumerate(functions):
            start = spent()
            f()
            best[i] = min(best[i], spent() - start)
    return best


def fork():
    "Start a process that ends at once."
    if not (child := os.fork()): os._exit(0)
    os.waitpid(child, 0)


def prototype(folder, source, name, check):
    "The same kernel in the older simulator."
    sys.path.insert(0, folder)
    import cusim
    return cusim.RawKernel(source, name, check=check)


def main(folder=None, only_fast=False):
    print(f"{'kernel':10}{'mode':10}{'ms':>9}" + (f"{'prototype':>12}{'ratio':>8}" if folder else ""))
    for name, source, grid, block, args, position, right in cases():
        kernel = Kernel(name, source, register=False)
        function = kernel.function("numpy")
        function.cores = 1
        fresh = tuple(a.copy() if isinstance(a, np.ndarray) else a for a in args)
        kernel(grid, block, fresh)
        np.testing.assert_allclose(fresh[position], right, rtol=1e-2, atol=1e-2)
        modes = [("fast", 400 if name == "saxpy" else 12, kernel), ("checked", 100 if name == "saxpy" else 3, kernel.check)]
        for mode, rounds, run in modes[:1 if only_fast else 2]:
            mine = [lambda run=run, grid=grid, block=block, fresh=fresh: run(grid, block, fresh)]
            if folder:
                old = prototype(folder, source, name, mode == "checked")
                mine.append(lambda old=old, grid=grid, block=block, fresh=fresh: old(grid, block, fresh))
            for f in mine: f()
            times = fastest(*mine, rounds=rounds)
            compared = f"{times[1]:12.3f}{times[0] / times[1]:8.2f}" if folder else ""
            print(f"{name:10}{mode:10}{times[0]:9.3f}{compared}", flush=True)
    for name, mode, function in (("saxpy", "cached", lambda: RawKernel(SAXPY, "saxpy").compile()), ("nothing", "fork", fork)):
        print(f"{name:10}{mode:10}{fastest(function, rounds=20)[0]:9.3f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prototype", nargs="?")
    parser.add_argument("--fast", action="store_true", help="leave checked mode out")
    given = parser.parse_args()
    main(given.prototype, given.fast)

"""The simulator's runtime: launches, limits, arguments, and that no kernel takes Python with it."""
import os
import signal
import subprocess
import sys
import threading
import time

import ml_dtypes
import numpy as np
import pytest

from tfedu.kernels.compiler import MISSING, CompileError, KernelError, cache_folder, find_compiler
from tfedu.kernels.hooks import dismiss
from tfedu.kernels.kernel import KERNELS, Case, Kernel, home, try_cases
from tfedu.kernels.simulator import RawKernel, RawModule
from tfedu.kernels.streams import Event, Stream, get_elapsed_time


def run(body, block, *args, parameters, grid=(1,), **options):
    "A kernel `f` with this body, run once."
    kernel = RawKernel(f'extern "C" __global__ void f({parameters}) {{\n{body}\n}}', "f")
    for name in [n for n in options if n in ("cores", "seconds", "max_dynamic_shared_size_bytes")]: setattr(kernel, name, options.pop(name))
    if "order" in options: kernel.launch(grid, block, args, **options)
    else: kernel(grid, block, args, **options)
    return args[0]


def ints(n): return np.zeros(n, np.int32)
def floats(n): return np.zeros(n, np.float32)


# ---- the compiler ----------------------------------------------------------------------------------------------------------------------

def test_a_compile_error_shows_the_line_of_the_kernel_and_a_caret():
    with pytest.raises(CompileError) as caught: RawKernel('extern "C" __global__ void f(float *x) {\n    x[0] = y;\n}', "f").compile()
    lines = str(caught.value).split("\n")
    assert lines[0].startswith("kernel.cu:2:12: error:") and lines[1] == "        x[0] = y;" and lines[2].index("^") == lines[1].index("y")
    assert caught.value.diagnostics[0].line == 2


def test_an_error_in_a_rewritten_line_has_no_wrong_caret():
    with pytest.raises(CompileError) as caught:
        RawKernel('extern "C" __global__ void f() {\n    extern __shared__ nonsense s[];\n}', "f").compile()
    assert "kernel.cu:2" in str(caught.value) and "extern __shared__ nonsense s[];" in str(caught.value) and "^" not in str(caught.value)


def test_a_name_expression_that_is_wrong():
    with pytest.raises(CompileError, match="nothing"):
        module = RawModule(code="template <int N> __global__ void f(int *x) {}", name_expressions=["nothing<3>"])
        module.get_function("nothing<3>").compile()


def test_names_as_cupy_finds_them():
    code = 'extern "C" __global__ void plain() {}\n__global__ void mangled() {}'
    with pytest.raises(KernelError, match="CUDA_ERROR_NOT_FOUND.*name_expressions"): RawKernel(code, "mangled")
    with pytest.raises(KernelError, match=r"there are \['plain'\]"): RawKernel(code, "other")
    RawModule(code=code, name_expressions=["mangled"]).get_function("mangled")((1,), (1,), ())


def test_no_compiler(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("TFEDU_CXX", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(KernelError) as caught: find_compiler()
    assert str(caught.value) == MISSING and "pip install ziglang" in MISSING


def test_options_reach_the_compiler():
    code = 'extern "C" __global__ void f(int *x) { x[0] = N; }'
    for n in (3, 4):
        x = ints(1)
        RawKernel(code, "f", (f"-DN={n}", "--use_fast_math"))((1,), (1,), (x,))
        assert x[0] == n


SHARED_BUILD = """
import numpy as np
from tfedu.kernels.simulator import RawKernel
x = np.zeros(4, np.int32)
RawKernel('extern "C" __global__ void f(int *x) { x[threadIdx.x] = 7 * threadIdx.x; }', "f")((1,), (4,), (x,))
assert x.tolist() == [0, 7, 14, 21]
"""


def test_two_processes_build_the_same_kernel_at_once(tmp_path):
    environment = {**os.environ, "TFEDU_CACHE": str(tmp_path)}
    both = [subprocess.Popen([sys.executable, "-c", SHARED_BUILD], env=environment, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    assert [(p.communicate()[1], p.returncode) for p in both] == [("", 0)] * 2
    assert len(list((tmp_path / "kernels").glob("kernel-*.so"))) == 1 and not list((tmp_path / "kernels").glob("building-*"))


def test_nothing_is_compiled_twice(monkeypatch):
    code = 'extern "C" __global__ void f(int *x) { x[0] = 1234321; }'
    RawKernel(code, "f").compile()
    def refuse(*_, **__): raise AssertionError("the compiler was started")
    monkeypatch.setattr("tfedu.kernels.simulator.run_compiler", refuse)
    start = time.process_time()
    x = ints(1)
    RawKernel(code, "f")((1,), (1,), (x,))
    assert x[0] == 1234321 and time.process_time() - start < 0.2


def test_the_cache_is_where_one_says(monkeypatch, tmp_path):
    monkeypatch.setenv("TFEDU_CACHE", str(tmp_path / "a"))
    assert cache_folder() == tmp_path / "a" / "kernels"
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TFEDU_CACHE", str(tmp_path / "file"))
    with pytest.raises(KernelError, match="TFEDU_CACHE"): cache_folder()


# ---- accidents -------------------------------------------------------------------------------------------------------------------------

def test_a_runaway_loop_is_stopped_and_its_line_named():
    with pytest.raises(KernelError, match=r"f: line [23], .*ran longer than 0.3 s"):
        run("while (x[0] >= 0)\n  x[0] = x[0] / 2;", (32,), np.ones(1, "f4"), parameters="volatile float *x", seconds=0.3)
    assert run("x[0] = 5;", (1,), floats(1), parameters="float *x")[0] == 5, "and the next launch works"


@pytest.mark.parametrize("index", ["1l << 40", "-100000000", "1 << 30", "(1l << 47)"])
def test_a_wild_pointer_is_an_error(index):
    with pytest.raises(KernelError, match="line 3, .*thread 7: the kernel touched memory that is not its own"):
        run(f"if (threadIdx.x < 7) return;\nx[{index}] = 1;", (8,), floats(4), parameters="float *x")


def test_a_null_pointer():
    with pytest.raises(KernelError, match="address 0x0"): run("x[0] = 1;", (1,), None, parameters="float *x")


def test_a_division_by_zero():
    with pytest.raises(KernelError, match="line 2.*division by zero"): run("x[0] = 100 / x[1];", (1,), ints(2), parameters="int *x")


def test_deep_recursion():
    code = """__device__ __noinline__ int down(volatile int *x, int n) {
    volatile int y[99]; y[n % 99] = n; return x[0] ? 0 : down(x, n + 1) + y[1]; }
extern "C" __global__ void f(int *x) { x[1] = down(x, 0); }"""
    with pytest.raises(KernelError, match="the stack overflowed"): RawKernel(code, "f")((1,), (1,), (ints(2),))


def test_a_frame_that_is_too_large_is_refused():
    with pytest.raises(CompileError, match="frame size"):
        run("volatile float big[20000]; big[x[0]] = 1; x[1] = big[x[2]];", (1,), ints(4), parameters="int *x")


def test_a_deadlock_is_an_error():
    with pytest.raises(KernelError, match="line [23].*(deadlock|warp operation)"):
        run("if (threadIdx.x) __syncthreads();\nelse __shfl_sync(0xffffffff, 1, 0);", (32,), ints(1), parameters="int *x")


def test_what_a_failed_kernel_wrote_is_not_copied_back():
    x = ints(2)
    with pytest.raises(KernelError): run("x[0] = 7; x[1] = 100 / x[1];", (1,), x, parameters="int *x")
    assert x.tolist() == [0, 0]


def test_control_c_stops_a_kernel():
    kernel = RawKernel('extern "C" __global__ void f(volatile int *x) { while (!x[0]) ; }', "f")
    kernel((1,), (1,), (np.ones(1, "i4"),))
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt): kernel((1,), (32,), (ints(1),))


def test_handlers_are_back_in_place():
    before = signal.getsignal(signal.SIGINT)
    rung = []
    signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        run("x[0] = 1;", (1,), ints(1), parameters="int *x")
        end = time.monotonic() + 10
        while not rung and time.monotonic() < end: pass
    finally: signal.signal(signal.SIGALRM, signal.SIG_DFL)
    assert rung == [1] and signal.getsignal(signal.SIGINT) is before


# ---- limits and arguments --------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("grid, block, shared, words", [
    ((1,), (32, 33), 0, "1056 threads; at most 1024"), ((1,), (1, 1, 65), 0, "block of (1, 1, 65)"),
    ((1,), (2048,), 0, "block of (2048, 1, 1)"),
    ((1, 65536), (1,), 0, "grid of (1, 65536, 1)"), ((0,), (1,), 0, "grid of (0, 1, 1)"), ((1,), (0,), 0, "block of (0, 1, 1)"),
    ((2 ** 31,), (1,), 0, "grid of (2147483648, 1, 1)"), ((1,), (1,), 49153, "49153 bytes of dynamic shared memory"),
    ((1,), (1,), -1, "-1 bytes")])
def test_launch_limits(grid, block, shared, words):
    with pytest.raises(KernelError) as caught: run("", block, ints(1), parameters="int *x", grid=grid, shared_mem=shared)
    assert "f: CUDA_ERROR_INVALID_VALUE: invalid argument" in str(caught.value) and words in str(caught.value)


def test_launch_bounds():
    kernel = RawKernel('extern "C" __global__ void __launch_bounds__(64) f() {}', "f")
    kernel((1,), (64,), ())
    with pytest.raises(KernelError, match="__launch_bounds__ allows 64"): kernel((1,), (65,), ())


def test_shared_memory_static_and_dynamic():
    code = """template <int N> __global__ void f(int *x) {
    __shared__ int s[N]; extern __shared__ int d[]; s[x[1]] = d[x[1]] = 1; x[0] = s[x[1]] + d[x[1]]; }
__device__ inline int helper(int i) { __shared__ int t[4]; t[i] = 3; return t[i]; }
extern "C" __global__ void g(int *x) { __shared__ float u[8][8]; u[x[1]][0] = 2; x[0] = helper(x[1]) + (int)u[x[1]][0]; }"""
    module = RawModule(code=code, name_expressions=["f<256>", "f<12287>", "f<12289>"])
    small, most, large, plain = (module.get_function(name) for name in ("f<256>", "f<12287>", "f<12289>", "g"))
    assert [k.shared_size_bytes for k in (small, most, plain)] == [1040, 49164, 272]
    x = ints(2)
    plain((1,), (1,), (x,))
    assert x[0] == 5
    small((1,), (1,), (x,), shared_mem=16)
    assert x[0] == 2
    with pytest.raises(KernelError, match="uses too much shared data"): large((1,), (1,), (x,))
    with pytest.raises(KernelError, match="max_dynamic_shared_size_bytes"): small((1,), (1,), (x,), shared_mem=60000)
    small.max_dynamic_shared_size_bytes = 60000
    small((1,), (1,), (x,), shared_mem=60000)
    with pytest.raises(KernelError, match="CUDA_ERROR_INVALID_VALUE"): small.max_dynamic_shared_size_bytes = 1 << 20


def test_all_of_dynamic_shared_memory():
    n = 227 << 10
    x = run("extern __shared__ char s[];\nfor (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = i % 100;\n__syncthreads();\n"
            "if (!threadIdx.x) for (int i = 0; i < n; i++) x[0] += s[i];", (256,), ints(1), np.int32(n), parameters="int *x, int n",
            shared_mem=n, max_dynamic_shared_size_bytes=n)
    assert x[0] == sum(i % 100 for i in range(n))


@pytest.mark.parametrize("value, words", [
    (3, "a Python int, which CuPy passes as int64; write np.int32(3)"),
    (3.0, "a Python float, which CuPy passes as float64; write np.int32(3.0)"),
    (np.float32(3), "of type float32"), (np.int64(3), "of type int64"), (True, "a Python bool"), ("3", "of type str"),
    (ints(1), "of type ndarray")])
def test_scalars_must_be_typed(value, words):
    with pytest.raises(TypeError) as caught: run("", (1,), floats(1), value, parameters="float *x, int n")
    assert str(caught.value).startswith("f: argument 1 (n) should be int32, and is") and words in str(caught.value)


@pytest.mark.parametrize("value, words", [
    (np.zeros(3), "an array of float64"), (ints(3), "an array of int32"), (np.zeros((3, 3), "f4").T[:, :2], "a view with strides"),
    ([1.0], "of type list"), (np.float32(1), "of type float32"), (np.broadcast_to(np.float32(1), 4), "strides"),
    (memoryview(b"abcd"), "of type memoryview")])
def test_arrays_must_fit(value, words):
    with pytest.raises(TypeError) as caught: run("", (1,), value, parameters="float *x")
    assert str(caught.value).startswith("f: argument 0 (x) should be an array of float32, and is") and words in str(caught.value)


def test_read_only_arrays_go_to_const_parameters_only():
    x = floats(4)
    x.flags.writeable = False
    run("y[0] = x[0];", (1,), floats(1), x, parameters="float *y, const float *x")
    with pytest.raises(TypeError, match="read-only"): run("", (1,), x, parameters="float *x")


def test_the_number_of_arguments():
    with pytest.raises(TypeError, match="f: takes 1 arguments, and was given 2"): run("", (1,), ints(1), ints(1), parameters="int *x")


def test_grid_and_block_are_tuples():
    for size in (4, (1.5,), (), (1, 2, 3, 4), None):
        with pytest.raises(TypeError, match="f: the grid should be a tuple"): run("", (1,), ints(1), parameters="int *x", grid=size)


def test_every_type_of_number():
    types = {"signed char": "i1", "short": "i2", "int": "i4", "long long": "i8", "unsigned char": "u1", "unsigned short": "u2",
             "unsigned": "u4", "size_t": "u8", "float": "f4", "double": "f8", "bool": "?"}
    for c, dtype in types.items():
        x = np.zeros(2, dtype)
        run("x[0] = a; x[1] = *b;", (1,), x, x.dtype.type(1), np.ones(1, dtype), parameters=f"{c} *x, {c} a, const {c} *b")
        assert x.tolist() == [1, 1], c


def test_half_and_bfloat16():
    for c, include, T in (("__half", "cuda_fp16.h", np.float16), ("__nv_bfloat16", "cuda_bf16.h", ml_dtypes.bfloat16)):
        x = np.zeros(2, T)
        code = f'#include <{include}>\nextern "C" __global__ void f({c} *x, {c} a) {{ x[threadIdx.x] = a; }}'
        RawKernel(code, "f")((1,), (2,), (x, T(1.5)))
        assert x.astype("f4").tolist() == [1.5, 1.5]


def test_vectors_and_structures():
    x, pair = floats(8), np.zeros((), [("i", "i4"), ("f", "f4")])
    pair["i"], pair["f"] = 3, 0.5
    code = """struct Pair { int i; float f; };
extern "C" __global__ void f(float4 *x, Pair p) { x[threadIdx.x] = make_float4(p.i, p.f, threadIdx.x, 0); }"""
    RawKernel(code, "f")((1,), (2,), (x, pair))
    assert x.tolist() == [3, 0.5, 0, 0, 3, 0.5, 1, 0]


def test_empty_arrays():
    run("if (threadIdx.x < n) x[0] = 1;", (4,), floats(0), np.int32(0), parameters="float *x, int n")


def test_one_array_twice_and_overlapping_views():
    x = np.arange(6, dtype="f4")
    run("y[threadIdx.x] = x[threadIdx.x] + 1;", (6,), x, x, parameters="float *y, const float *x")
    assert x.tolist() == [1, 2, 3, 4, 5, 6]
    run("y[threadIdx.x] = 10 * x[threadIdx.x];", (3,), x[3:], x, parameters="float *y, const float *x")
    assert x.tolist() == [1, 2, 3, 10, 20, 30]


def test_arrays_may_be_as_large_as_the_index_needs():
    x = np.zeros(3 << 20, np.uint8)
    run("x[blockIdx.x * 1024 + threadIdx.x] = threadIdx.x;", (1024,), x, parameters="unsigned char *x", grid=(3072,))
    assert (x.reshape(-1, 256) == np.arange(256, dtype="u1")).all()


# ---- what kernels can do ---------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("order", ["up", "down", "random"])
def test_barriers_and_blocks_in_three_orders(order):
    code = "__shared__ int s[256];\nint t = threadIdx.x;\ns[t] = x[blockIdx.x * 256 + t];\n"
    code += "__syncthreads();\nx[blockIdx.x * 256 + t] = s[255 - t];"
    x = run(code, (256,), np.arange(1280, dtype="i4"), parameters="int *x", grid=(5,), order=order, seed=3)
    assert (x.reshape(5, 256) == np.arange(1280).reshape(5, 256)[:, ::-1]).all()


def test_random_orders_meet_every_block_once():
    for seed in range(5):
        for blocks in (1, 2, 7, 30):
            x = run("atomicAdd(&x[blockIdx.x], 1);", (3,), ints(blocks), parameters="int *x", grid=(blocks,), order="random", seed=seed)
            assert (x == 3).all()


def test_indices_of_three_dimensions():
    body = """int b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
x[b * (blockDim.x * blockDim.y * blockDim.z) + t]++;"""
    assert (run(body, (3, 2, 4), ints(5 * 3 * 2 * 24), parameters="int *x", grid=(5, 3, 2)) == 1).all()


def test_printf_is_in_order_and_through_stdout(capsys):
    code = 'extern "C" __global__ void f() { printf("block %d: %s %.2f %%\\n", blockIdx.x, "text", 0.5f * threadIdx.x); }'
    RawKernel(code, "f").launch((2,), (2,), (), order="down")
    assert capsys.readouterr().out == "".join(f"block {b}: text {t} %\n" for b in (0, 1) for t in ("0.50", "0.00"))


def test_the_printf_buffer_ends(capsys):
    RawKernel('extern "C" __global__ void f() { for (int i = 0; i < 20000; i++) printf("%080d\\n", i); }', "f")((1,), (1,), ())
    out = capsys.readouterr().out
    assert out.startswith("0" * 80 + "\n") and "more texts of printf found no room" in out and len(out) < 1.2e6


def test_what_was_printed_before_a_fault_is_shown(capsys):
    with pytest.raises(KernelError):
        RawKernel('extern "C" __global__ void f(int *x) { printf("here\\n"); x[1] = 100 / x[0]; }', "f")((1,), (1,), (ints(2),))
    assert capsys.readouterr().out == "here\n"


def test_constant_memory_and_device_variables():
    code = """__constant__ float w[3];
__constant__ const int two = 2;
__device__ int calls = 0;
extern "C" __global__ void f(float *x) { x[threadIdx.x] = two * w[threadIdx.x]; if (!threadIdx.x) atomicAdd(&calls, 1); }"""
    one, other = RawModule(code=code), RawModule(code=code)
    for module, value in ((one, 1), (other, 5)):
        np.ndarray(3, np.float32, module.get_global("w"))[:] = [value, value + 1, value + 2]
    x = floats(3)
    for module, right in ((one, [2, 4, 6]), (other, [10, 12, 14]), (one, [2, 4, 6])):
        module.get_function("f")((1,), (3,), (x,))
        assert x.tolist() == right
    assert np.ndarray((), np.int32, one.get_global("calls")) == 2 and np.ndarray((), np.int32, other.get_global("calls")) == 1
    with pytest.raises(KernelError, match="CUDA_ERROR_NOT_FOUND"): one.get_global("v")


def test_templates_by_name_expression():
    code = "template <typename T, int N> __global__ void scale(T *x) { x[threadIdx.x] *= N; }"
    module = RawModule(code=code, name_expressions=("scale<float, 3>", "scale<int, 2>"))
    x, y = np.arange(3, dtype="f4"), np.arange(3, dtype="i4")
    module.get_function("scale<float, 3>")((1,), (3,), (x,))
    module.get_function("scale<int, 2>")((1,), (3,), (y,))
    assert x.tolist() == [0, 3, 6] and y.tolist() == [0, 2, 4]


def test_dynamic_shared_memory_in_all_forms():
    code = """extern __shared__ float outside[];
template <class T> __device__ T *get() { extern __shared__ __align__(16) unsigned char raw[]; return (T *)raw; }
extern "C" __global__ void f(float *x) {
    extern __shared__ float rows[][4];
    rows[threadIdx.x][1] = threadIdx.x;
    __syncthreads();
    x[threadIdx.x] = outside[4 * threadIdx.x + 1] + get<float>()[1];
}"""
    x = floats(3)
    RawKernel(code, "f")((1,), (3,), (x,), shared_mem=48)
    assert x.tolist() == [0, 1, 2]


# ---- several cores ---------------------------------------------------------------------------------------------------------------------

LONG = """float v = 1;
for (int i = 0; i < 30000; i++) v = v * 0.999f + threadIdx.x;
y[blockIdx.x * blockDim.x + threadIdx.x] = v;
if (!threadIdx.x) atomicAdd(total, 1);"""


def test_several_cores_give_what_one_gives():
    results = []
    for cores in (1, 2, 4):
        total, y = ints(1), floats(300 * 8)
        run(LONG, (8,), total, y, parameters="int *total, float *y", grid=(300,), cores=cores)
        results.append((total[0], y))
    assert [r[0] for r in results] == [300] * 3 and all((r[1] == results[0][1]).all() for r in results)


def test_a_fault_in_a_child_is_reported():
    body = LONG + "\nif (blockIdx.x == 299) y[1l << 40] = 1;"
    with pytest.raises(KernelError, match=r"line 6, block \(299, 0, 0\)"):
        run(body, (8,), ints(1), floats(300 * 8), parameters="int *total, float *y", grid=(300,), cores=4)


def test_a_runaway_on_several_cores_leaves_no_process():
    dismiss()                                         # the helper of checked mode
    with pytest.raises(KernelError, match="ran longer"):
        run(LONG + "\nwhile (blockIdx.x > 200 && total[0]) ;", (8,), ints(1), floats(300 * 8), parameters="int *total, float *y",
            grid=(300,), cores=4, seconds=1.0)
    with pytest.raises(ChildProcessError): os.waitpid(-1, os.WNOHANG)


def test_launches_from_several_threads_take_turns():
    kernel = RawKernel('extern "C" __global__ void f(int *x) { __shared__ int s[64]; s[threadIdx.x] = threadIdx.x; __syncthreads(); '
                       'x[threadIdx.x] = s[63 - threadIdx.x]; }', "f")
    arrays = [ints(64) for _ in range(8)]
    threads = [threading.Thread(target=lambda a=a: [kernel((1,), (64,), (a,)) for _ in range(20)]) for a in arrays]
    for t in threads: t.start()
    for t in threads: t.join()
    assert all((a == np.arange(64)[::-1]).all() for a in arrays)


def test_a_forked_python_has_memory_of_its_own():
    kernel, x = RawKernel('extern "C" __global__ void f(int *x, int v) { x[threadIdx.x] += v; }', "f"), ints(4)
    kernel((1,), (4,), (x, np.int32(1)))
    child = os.fork()
    if not child:
        kernel((1,), (4,), (x, np.int32(10)))
        os._exit(0 if x.tolist() == [11] * 4 else 1)
    kernel((1,), (4,), (x, np.int32(100)))
    assert os.waitpid(child, 0)[1] == 0 and x.tolist() == [101] * 4


# ---- streams, kernels ------------------------------------------------------------------------------------------------------------------

def test_streams_and_events():
    stream, start, end = Stream(), Event(), Event()
    start.record(stream)
    RawKernel('extern "C" __global__ void f() {}', "f")((1,), (1,), (), stream=stream)
    stream.record(end)
    assert get_elapsed_time(start, end) >= 0 and end.done
    with pytest.raises(KernelError, match="disable_timing"): get_elapsed_time(start, stream.record(Event(disable_timing=True)))


def test_cases_and_their_registry():
    source = 'extern "C" __global__ void test_registry(int *x) { x[threadIdx.x] += 1; }'
    kernel = Kernel("test_registry", source)
    try:
        @kernel.case
        def counts(rng): return Case(1, 3, (ints(3),), {0: [1, 1, 1]})
        @kernel.case
        def miscounts(rng): return Case(1, 3, (ints(3),), {0: [1, 2, 1]})
        assert KERNELS["test_registry"] is kernel
        with pytest.raises(KernelError, match=r"miscounts: argument 0 at \(1,\): 1, should be 2"): try_cases(kernel)
    finally: del KERNELS["test_registry"]


def test_a_kernel_asks_for_large_shared_memory_itself():
    code = 'extern "C" __global__ void big(int *x) { extern __shared__ int s[]; s[19999] = 5; x[0] = s[19999]; }'
    kernel = Kernel("big", code, register=False)
    x = ints(1)
    kernel(1, 1, (x,), shared_mem=80000)
    assert x[0] == 5


def test_a_kernel_may_have_any_name():
    for name in ("a", "out", "size", "launch", "memory"):
        kernel = Kernel(name, f"extern \"C\" __global__ void {name}(int *x) {{ x[threadIdx.x] += 1; }}", register=False)
        kernel(1, 3, (x := ints(3),))
        assert x.tolist() == [1, 1, 1]


class Card:
    "Stands for an array of CuPy."
    def __init__(self, *shape): self.shape = shape


Card.__module__ = "cupy"


def test_a_kernel_runs_where_the_arrays_are():
    assert home("f", (np.int32(1), floats(2))) == home("f", (np.float32(1),)) == "numpy"
    assert home("f", (np.int32(1), Card(3))) == home("f", (Card(),)) == home("f", (Card(), np.array(1.0))) == "cupy"
    for args in ((Card(), floats(2)), (Card(3), floats(1))):
        with pytest.raises(TypeError, match="f: some arrays are NumPy.s and some are CuPy.s"): home("f", args)


def test_a_kernel_belongs_to_the_module_that_made_it():
    from tfedu.kernels.softmax import softmax_online
    assert {kernel.module for kernel in softmax_online.values()} == {"tfedu.kernels.softmax"}
    assert not [name for name, kernel in KERNELS.items() if kernel.module == "tfedu.kernels.versions"]


# ---- checked mode ----------------------------------------------------------------------------------------------------------------------
BROKEN = """extern "C" __global__ void shift(float *x, int by) {
    __shared__ float s[32];
    float *p = s;
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = p[threadIdx.x + by];
}"""


def test_results_come_back_if_nothing_was_found():
    kernel, x = Kernel("shift", BROKEN, register=False), np.arange(32, dtype=np.float32)
    assert kernel.check(1, 31, (x, np.int32(0))).findings == [] and x.tolist() == list(range(32))
    x += 1
    assert kernel.check(1, 32, (x, np.int32(1)), raises=False).findings and x.tolist() == list(range(1, 33))
    good = Kernel("shift", BROKEN.replace("threadIdx.x + by", "31 - threadIdx.x"), register=False)
    assert good.check(1, 32, (x, np.int32(0))).findings == [] and x.tolist() == list(range(32, 0, -1))


@pytest.mark.parametrize("by", [1, 40, 900, -1, -9, -200])
def test_reading_beyond_shared_memory_is_found(by):
    finding, = Kernel("shift", BROKEN, register=False).check(1, 32, (floats(32), np.int32(by)), raises=False).findings
    assert (finding.kind, finding.line) == ("out of bounds", 6)


@pytest.mark.parametrize("by", [-1, -3, -200, 4, 5000])
def test_reading_beyond_dynamic_shared_memory_is_found(by):
    code = "extern \"C\" __global__ void f(float *x, int by) { extern __shared__ float s[]; s[0] = s[3] = 1; x[0] = s[by]; }"
    finding, = Kernel("f", code, register=False).check(1, 1, (floats(1), np.int32(by)), shared_mem=16, raises=False).findings
    assert finding.kind == "out of bounds"


def test_dynamic_shared_memory_that_nobody_asked_for():
    code = "extern \"C\" __global__ void f() { extern __shared__ int s[]; s[0] = 1; }"
    finding, = Kernel("f", code, register=False).check(1, 1, (), raises=False).findings
    assert "writes dynamic shared memory, of which the launch asked for none" in finding.text


def test_the_header_files_that_come_with_c_change_nothing(capfd):
    for name in ("stdio.h", "cstdio", "assert.h"):
        code = f"#include <{name}>\nextern \"C\" __global__ void f() {{ printf(\"%d\", blockIdx.x); }}"
        Kernel("f", code, register=False)(3, 1, ())
        assert capfd.readouterr().out == "012"


def test_the_report_in_a_notebook_counts_in_english():
    kernel = Kernel("shift", BROKEN, register=False)
    assert "barrier, once" in (html := kernel.check(1, 32, (floats(32), np.int32(0)), raises=False)._repr_html_()) and "1 times" not in html
    assert "barrier, 3 times" in kernel.check(3, 32, (floats(32), np.int32(0)), raises=False)._repr_html_()


def test_a_second_module_with_variables_leaves_no_file():
    code = '__device__ int number = 1;\nextern "C" __global__ void second(int *x) { x[0] = number++; }'
    before, x = set(os.listdir(cache_folder())), ints(1)
    for module in [RawModule(code=code) for _ in range(3)]:
        module.get_function("second")((1,), (1,), (x,))
        assert x[0] == 1
    assert len(set(os.listdir(cache_folder())) - before) <= 1

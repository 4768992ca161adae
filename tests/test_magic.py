"""`%%cuda` as a new reader meets it: in a fresh notebook, and in a terminal, with the mistakes that one makes."""
import re

import nbformat
import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell
from runner import Runner, text_outputs
from traitlets.config import Config

from tfedu.kernels.magic import CellError, Launch, read_cell, read_launch, read_options, run_cell, typed

SAXPY = """__global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
"""
RACE = """__global__ void turn(float *x) {
    __shared__ float tile[64];
    tile[threadIdx.x] = x[threadIdx.x];
    x[threadIdx.x] = tile[63 - threadIdx.x];
}
"""
LOOP = """__global__ void wait(volatile float *x) {
    while (x[0] >= 0)
        x[1] = 0;
}
"""
SETUP = "import numpy as np\n%load_ext tfedu.kernels.magic\nn = 100\nx, y = np.arange(n, dtype='f4'), np.ones(n, 'f4')"


def executed(folder, *cells):
    "What each cell of a fresh notebook shows as text, and whether it failed."
    nb = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in (SETUP, *cells)])
    nb.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    Runner(nb, folder, timeout=120, allow_errors=True).execute()
    assert not nb.cells[0].outputs, nb.cells[0].outputs
    return nb.cells[1:]


def message(cell):
    "What a failed cell shows; it has no traceback."
    error = next(out for out in cell.outputs if out.output_type == "error")
    shown = "\n".join(error.traceback)
    assert error.ename == "CellError" and "Traceback" not in shown and ".py" not in shown and "\x1b" not in shown, shown
    return shown


def test_a_fresh_notebook(tmp_path):
    alive = "float(y[3])"
    right, result, wrong, _, type_, race, loop, name, last = executed(
        tmp_path, "%%cuda saxpy<<<1, 128>>>(n, 2, x, y)\n" + SAXPY, alive, "%%cuda\n" + SAXPY.replace("a * x", "b * x"), alive,
        "%cuda saxpy<<<1, 128>>>(n, 2, x.astype('f8'), y)", "%%cuda turn<<<1, 64>>>(x)\n" + RACE,
        "%%cuda --seconds 1 wait<<<1, 1>>>(y)\n" + LOOP, "%cuda saxpy<<<1, 128>>>(n, 2, x, z)", alive)
    html = right.outputs[0].data["text/html"]
    assert "y[i] = a * x[i] + y[i];" in html and "global load" in html and "no findings" in right.outputs[0].data["text/plain"]
    assert text_outputs(result)[0][1] == "7.0"
    shown = message(wrong)
    assert re.search(r"line 4, column \d+: error: .*\bb\b", shown) and "if (i < n) y[i] = b * x[i] + y[i];" in shown
    caret = next(row for row in shown.split("\n") if row.strip() == "^")
    assert shown.split("\n")[shown.split("\n").index(caret) - 1][caret.index("^")] == "b"
    assert "argument 2 (x) should be an array of float32, and is an array of float64" in message(type_)
    assert "line 5: race" in message(race) and any("race" in out.data.get("text/html", "") for out in race.outputs if "data" in out)
    assert "line 3" in message(loop) or "line 4" in message(loop)
    assert "time limit" in message(loop)
    assert "name 'z' is not defined" in message(name) and "x (float32, (100,))" in message(name)
    assert text_outputs(last)[0][1] == "7.0", "Python has survived it all"


def test_a_terminal(capsys):
    shell = InteractiveShell(config=Config({"HistoryManager": {"enabled": False}}))
    for source in SETUP.split("\n"): shell.run_cell(source).raise_error()
    shell.run_cell("%%cuda saxpy<<<1, 128>>>(n, 2, x, y)\n" + SAXPY).raise_error()
    assert "no findings" in capsys.readouterr().out and shell.user_ns["y"][3] == 7
    done = shell.run_cell("%%cuda\n" + SAXPY.replace("a *", "b *"))
    printed = "".join(capsys.readouterr())
    assert isinstance(done.error_in_exec, CellError) and "line 4, column" in printed and "Traceback" not in printed
    shell.run_cell("%cuda --fails saxpy<<<1, 128>>>(n, 2.5, x, n)").raise_error()
    assert "argument 3 (y) should be an array of float32, and is of type int" in capsys.readouterr().out
    assert "nothing failed" in str(shell.run_cell("%cuda --fails saxpy<<<1, 128>>>(n, 2.5, x, {0: y}[0])").error_in_exec)
    assert "--picture" in shell.find_cell_magic("cuda").__doc__


def run(line, body="", **names):
    shown = []
    run_cell(line, body, names, shown.append)
    return shown, names


def test_options():
    x = np.ones(64, np.float32)
    for order in ("up", "down", "random"):
        (report, picture), names = run(f"--order {order} --picture sectors scale<<<2, 32>>>(3, x)",
                                       "__global__ void scale(int a, float *x) { x[blockIdx.x * 32 + threadIdx.x] *= a; }", x=x)
        assert not report.findings and "4 sectors" in repr(picture)
    assert (x == 27).all()
    shown, _ = run("--fast scale<<<2, 32>>>(2, x)", x=x, scale=names["scale"])
    assert not shown and (x == 54).all()
    for kind in ("launch", "warp", "sectors:2"):
        assert run(f"--picture {kind} scale<<<2, 32>>>(1, x)", x=x, scale=names["scale"])[0][1].svg


def test_several_launches_templates_shared_memory(capsys):
    x = np.zeros(40, np.float32)
    body = """template <int V> __global__ void fill(float *x, int n) {
    extern __shared__ float s[];
    s[threadIdx.x] = V;
    if (threadIdx.x < n) x[threadIdx.x] = s[threadIdx.x];
}
fill<2><<<1, 32, 4 * 32>>>(x, 16)
fill<3><<<1, 32, 128>>>(x, 8);
"""
    shown, names = run("", body, x=x)
    assert len(shown) == 2 and x[:33].tolist() == [3.] * 8 + [2.] * 8 + [0.] * 17 and set(names) == {"x", "fill<2>", "fill<3>"}
    run("", "__global__ void x(float *y) {}", x=x)
    assert "x is a variable of this notebook already" in capsys.readouterr().out


@pytest.mark.parametrize("line, reason", [
    ("saxpy<<<1, 128>>>(n, 2, x)", r"line 1: saxpy: takes 4 arguments \(n, a, x, y\), and was given 3"),
    ("saxpy<<<1, 128>>>(n, 'two', x, y)", r"argument 1 \(a\) should be float32, and is of type str"),
    ("saxpy<<<1, 128>>>(n + .5, 2, x, y)", r"n is int32, from -2147483648 to 2147483647, and 100.5 is no such number"),
    ("saxpy<<<1, 128>>>(n, 2, x[::2], y)", r"x.*strides"),
    ("saxpy<<<1, 2048>>>(n, 2, x, y)", r"CUDA_ERROR_INVALID_VALUE.* a block of .*2048.*1024"),
    ("saxpy<<<1>>>(n, 2, x, y)", r"expected <<<grid, block>>>"),
    ("saxpy<<<1, 128>>>(n, 2 +, x, y)", r"not an expression of Python"),
    ("saxpy<<<1, 128>>>(n // 0, 2, x, y)", r"ZeroDivisionError"),
    ("saxpi<<<1, 128>>>(n, 2, x, y)", r"there is no kernel saxpi; kernels here are saxpy"),
    ("saxpy<<<1, 128>>>(n, 2, x.astype(float), y)", r"and is an array of float64; x.astype\(np.float32\) is one"),
    ("saxpy(1, 128)", r"expected kernel<<<grid, block>>>\(arguments\), got 'saxpy\(1, 128\)'"),
    ("--slow saxpy<<<1, 128>>>(n, 2, x, y)", r"%%cuda has no option --slow; it has --check, --fails, --fast"),
    ("--seed one saxpy<<<1, 128>>>(n, 2, x, y)", r"--seed needs a value \(int\), got 'one'"),
    ("--order sideways saxpy<<<1, 128>>>(n, 2, x, y)", r"--order should be up\|down\|random, got 'sideways'"),
    ("--picture bank:z saxpy<<<1, 128>>>(n, 2, x, y)", r"--picture should be .*sectors.*got 'bank:z'"),
    ("--picture banks saxpy<<<1, 128>>>(n, 2, x, y)", r"uses no shared memory")])
def test_mistakes(line, reason):
    x = np.zeros(100, np.float32)
    with pytest.raises(CellError, match=reason): run(line, SAXPY, x=x, y=x.copy(), n=100)


@pytest.mark.parametrize("body, reason", [
    ("__global__ void f(float *x) {\n    x[0] = 1;", r"line 2, column 29: error: this .{. is never closed\n    __global__.*\n {32}\^"),
    ("__global__ void f(float *x) { x[0] = __half2float(x[1]); }", r"(?s)line 2, column 38.*is #include <cuda_fp16.h> missing\?"),
    ("__global__ void div(float *x) { x[0] = 1; }", r"C has a function div already: choose another name"),
    ("void f(float *x) { x[0] = 1; }", r"no kernel f; .* this cell defines none: a kernel begins with __global__ void f\("),
    ("__global__ void f(float *x) {\n    int i = 0;\n    while (i >= 0) i = (i + 1) % 5;\n}", r"line 4")])
def test_what_beginners_forget(body, reason):
    x = np.zeros(4, np.float32)
    for option in ("", "--fast "):
        with pytest.raises(CellError, match=reason): run(f"{option}--seconds 0.3 f<<<1, 1>>>(x)", body, x=x)


def test_no_compiler(monkeypatch):
    monkeypatch.setenv("TFEDU_CXX", "no-such-compiler")
    with pytest.raises(CellError, match="no-such-compiler"): run("", SAXPY.replace("saxpy", "unseen"))


def test_reading():
    assert read_launch("f<float><<<(2, 2), n >> 3, 4>>>(g(a, (b)), c);", 9) == Launch("f<float>", "(2, 2), n >> 3, 4", "g(a, (b)), c", 9)
    assert read_launch("x[i] = y") is None and read_launch("f<<<1, 2>>>(x) + 1") is None
    assert read_options("--fast --seconds=0.5 f<<<1, 1>>>()") == ({"fast": True, "seconds": .5}, "f<<<1, 1>>>()")
    cell = read_cell("", "__global__ void f() {\n    g<<<1, 1>>>();\n}\nf<<<1, 1>>>()")
    assert [launch.kernel for launch in cell.launches] == ["f"] and "g<<<1, 1>>>();" in cell.source and "f<<<" not in cell.source


def test_numbers_take_the_parameters_type():
    assert typed(True, np.dtype("?"), "b") is np.True_ and typed(np.int64(3), np.dtype("f2"), "h") == np.float16(3)
    for value in (-1, 256, .5, float("inf")):
        with pytest.raises(TypeError, match="k is uint8"): typed(value, np.dtype("u1"), "k")

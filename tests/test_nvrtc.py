"""Every kernel is CUDA: NVIDIA's compiler takes it for real cards, keeps it in registers, and puts its products on tensor cores."""
from importlib import import_module
from pkgutil import iter_modules

import pytest

import tfedu.kernels
from tfedu.kernels import nvrtc
from tfedu.kernels.kernel import KERNELS

for module in iter_modules(tfedu.kernels.__path__): import_module(f"tfedu.kernels.{module.name}")

try: nvrtc.toolkit()
except nvrtc.NotInstalled as missing: pytestmark = pytest.mark.skip(reason=str(missing))


TEXTS = {}   # source, options -> the kernels in it; compiled together, for that is quicker
for kernel in KERNELS.values(): TEXTS.setdefault((kernel.source, tuple(kernel.options)), []).append(kernel)
every_text = pytest.mark.parametrize("text", TEXTS, ids=lambda text: TEXTS[text][0].name)


def compiled(text, arch):
    "A text for one architecture, and the names of its kernels that can run there."
    names = tuple(sorted(kernel.name for kernel in TEXTS[text] if kernel.arch <= arch))
    return names, nvrtc.compile_source(text[0], f"sm_{arch}", text[1], names) if names else None


@pytest.mark.parametrize("arch", [75, 80, 90])
@every_text
def test_every_kernel_compiles_without_spills(text, arch):
    names, program = compiled(text, arch)
    if not names: pytest.skip(f"it needs sm_{TEXTS[text][0].arch}")
    for name in names:
        usage = program.usage[program.names[name]]
        assert usage.spills == 0 and 0 < usage.registers <= 255, (name, usage)


@pytest.mark.parametrize("arch", [80, 90])
@pytest.mark.parametrize("text", [text for text in TEXTS if "mma_sync" in text[0]], ids=lambda text: TEXTS[text][0].name)
def test_tensor_core_kernels_use_tensor_cores(text, arch):
    "Several kernels may share a text; what must be there is the unit, in a program that asks for it."
    counts = nvrtc.instructions_of(compiled(text, arch)[1].cubin)
    assert sum(count["HMMA"] + count["HGMMA"] for count in counts.values()) > 0


SUM = r"""
extern "C" __global__ void both(float *x, const float *y) { x[threadIdx.x] += y[threadIdx.x]; }
template <class T> __global__ void typed(T *x) { x[threadIdx.x] = x[threadIdx.x] * x[threadIdx.x]; }
"""


def test_names_and_counts():
    compiled = nvrtc.compile_source(SUM, "sm_90", (), ("both", "typed<float>", "typed<double>"))
    assert compiled.names["both"] == "both" and len(set(compiled.names.values())) == 3
    counts = nvrtc.instructions(nvrtc.disassemble(compiled.cubin))
    assert set(counts) == set(compiled.names.values()) == set(compiled.usage)
    assert counts["both"]["LDG"] == 2 and counts["both"]["FADD"] == 1 and counts["both"]["STG"] == 1
    assert counts[compiled.names["typed<double>"]]["DMUL"] == 1 and counts[compiled.names["typed<float>"]]["DMUL"] == 0


def test_errors_are_the_compilers():
    with pytest.raises(nvrtc.CompileError, match=r"kernel.cu\(2\): error: identifier .nothing. is undefined"):
        nvrtc.compile_source("__global__ void f(float *x) {\n*x = nothing; }\n")
    with pytest.raises(nvrtc.CompileError, match="sm_12"): nvrtc.compile_source(SUM, "sm_12")
    with pytest.raises(nvrtc.CompileError): nvrtc.compile_source(SUM, "sm_90", (), ("absent",))


def test_options_reach_the_compiler():
    source = "extern \"C\" __global__ void f(float *x) { __shared__ float s[N]; s[threadIdx.x] = *x; __syncthreads(); *x = s[N - 1]; }"
    for n in (32, 64): assert nvrtc.compile_source(source, "sm_80", (f"-DN={n}",)).usage["f"].shared == 4 * n


def test_a_missing_compiler_is_named(monkeypatch):
    monkeypatch.setattr(nvrtc, "find_spec", lambda name: None)
    with pytest.raises(nvrtc.NotInstalled, match="pip install nvidia-cuda-nvrtc"): nvrtc.toolkit()

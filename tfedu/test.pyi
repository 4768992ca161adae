# Generated from the notebooks by `make export`; do not edit.
from tfedu.ops.benchmarking import Benchmark as Benchmark
from tfedu.ops.testing import TestCase as TestCase
from tfedu.autodiff.compute_gradient import compute_gradient as compute_gradient
from tfedu.ops.benchmarking import gpu_device_name as gpu_device_name
from tfedu.ops.benchmarking import is_built_with_cuda as is_built_with_cuda
from tfedu.ops.benchmarking import is_built_with_gpu_support as is_built_with_gpu_support
from tfedu.ops.benchmarking import is_built_with_rocm as is_built_with_rocm
from tfedu.ops.benchmarking import is_built_with_xla as is_built_with_xla
from tfedu.ops.benchmarking import is_gpu_available as is_gpu_available
from tfedu.ops.testing import main as main

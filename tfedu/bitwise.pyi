# Generated from the notebooks by `make export`; do not edit.
from tfedu.ops.compare import bitwise_and as bitwise_and
from tfedu.ops.compare import bitwise_or as bitwise_or
from tfedu.ops.compare import bitwise_xor as bitwise_xor
from tfedu.ops.compare import invert as invert
from tfedu.ops.scalars import left_shift as left_shift
from tfedu.ops.scalars import right_shift as right_shift

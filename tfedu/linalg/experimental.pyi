# Generated from the notebooks by `make export`; do not edit.
from tfedu.ops.banded import conjugate_gradient as conjugate_gradient

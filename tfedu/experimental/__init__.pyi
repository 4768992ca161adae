# Generated from the notebooks by `make export`; do not edit.
from . import dlpack as dlpack

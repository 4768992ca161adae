# Generated from the notebooks by `make export`; do not edit.
from tfedu.ops.about import get_build_info as get_build_info

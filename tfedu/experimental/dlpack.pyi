# Generated from the notebooks by `make export`; do not edit.
from tfedu.ops.exchange import from_dlpack as from_dlpack
from tfedu.ops.exchange import to_dlpack as to_dlpack

# Generated from the notebooks by `make export`; do not edit.
from tfedu.ops.static import TensorLike as TensorLike

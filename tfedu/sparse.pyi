# Generated from the notebooks by `make export`; do not edit.
from tfedu.ops.sparse_tensor import SparseTensor as SparseTensor
from tfedu.ops.sparse_tensor import from_dense as from_dense
from tfedu.ops.sparse_tensor import to_dense as to_dense

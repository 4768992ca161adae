# Generated from the notebooks by `make export`; do not edit.
from tfedu.ops.einsum import einsum as einsum
from tfedu.ops.create import eye as eye
from tfedu.ops.norm import l2_normalize as l2_normalize
from tfedu.ops.linalg import matmul as matmul
from tfedu.ops.linalg import matvec as matvec
from tfedu.ops.linalg import tensordot as tensordot

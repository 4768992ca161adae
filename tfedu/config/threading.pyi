# Generated from the notebooks by `make export`; do not edit.
from tfedu.core.config import get_inter_op_parallelism_threads as get_inter_op_parallelism_threads
from tfedu.core.config import get_intra_op_parallelism_threads as get_intra_op_parallelism_threads
from tfedu.core.config import set_inter_op_parallelism_threads as set_inter_op_parallelism_threads
from tfedu.core.config import set_intra_op_parallelism_threads as set_intra_op_parallelism_threads

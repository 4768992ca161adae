# Generated from the notebooks by `make export`; do not edit.
from tfedu.ops.generator import Algorithm as Algorithm
from tfedu.ops.generator import Generator as Generator
from tfedu.ops.generator import create_rng_state as create_rng_state
from tfedu.ops.generator import get_global_generator as get_global_generator
from tfedu.ops.generator import set_global_generator as set_global_generator
from tfedu.ops.stateless import stateless_fold_in as stateless_fold_in
from tfedu.ops.stateless import stateless_split as stateless_split

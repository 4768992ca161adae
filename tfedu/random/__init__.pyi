# Generated from the notebooks by `make export`; do not edit.
from . import experimental as experimental
from tfedu.ops.generator import Algorithm as Algorithm
from tfedu.ops.generator import Generator as Generator
from tfedu.ops.generator import create_rng_state as create_rng_state
from tfedu.ops.generator import get_global_generator as get_global_generator
from tfedu.ops.random import normal as normal
from tfedu.ops.generator import set_global_generator as set_global_generator
from tfedu.ops.random import set_seed as set_seed
from tfedu.ops.random import shuffle as shuffle
from tfedu.ops.random import truncated_normal as truncated_normal
from tfedu.ops.random import uniform as uniform

# Generated from the notebooks by `make export`; do not edit.
from tfedu.core.config import get_experimental_options as get_experimental_options
from tfedu.core.config import get_jit as get_jit
from tfedu.core.config import set_experimental_options as set_experimental_options
from tfedu.core.config import set_jit as set_jit

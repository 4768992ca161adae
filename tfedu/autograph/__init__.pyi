# Generated from the notebooks by `make export`; do not edit.
from . import experimental as experimental
from tfedu.program.autograph_api import set_verbosity as set_verbosity
from tfedu.program.autograph_api import to_code as to_code
from tfedu.program.autograph_api import to_graph as to_graph
from tfedu.program.autograph_api import trace as trace

# Generated from the notebooks by `make export`; do not edit.
from tfedu.ops.experimental import Feature as Feature
from tfedu.program.autograph_api import do_not_convert as do_not_convert
from tfedu.program.autograph_api import set_loop_options as set_loop_options

# Generated from the notebooks by `make export`; do not edit.
from tfedu.ops.static import operator_add as add
from tfedu.ops.static import operator_eq as eq
from tfedu.ops.static import operator_getitem as getitem
from tfedu.ops.static import operator_ne as ne

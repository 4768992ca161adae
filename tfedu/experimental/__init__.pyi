# Generated from the notebooks by `make export`; do not edit.
from . import dlpack as dlpack
from tfedu.ops.experimental import Optional as Optional
from tfedu.ops.placement import async_scope as async_scope

# Generated from the notebooks by `make export`; do not edit.
from tfedu.ops.about import COMPILER_VERSION as COMPILER_VERSION
from tfedu.ops.about import GIT_VERSION as GIT_VERSION
from tfedu.ops.about import VERSION as VERSION

# Generated from the notebooks by `make export`; do not edit.
from tfedu.ops.set import difference as difference
from tfedu.ops.set import intersection as intersection
from tfedu.ops.set import size as size
from tfedu.ops.set import union as union

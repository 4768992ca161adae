# Generated from the notebooks by `make export`; do not edit.
from . import experimental as experimental

# Generated from the notebooks by `make export`; do not edit.
from tfedu.ops.experimental import Feature as Feature

# Generated from the notebooks by `make export`; do not edit.
from . import datasets as datasets
from . import optimizers as optimizers

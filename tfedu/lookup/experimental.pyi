# Generated from the notebooks by `make export`; do not edit.
from tfedu.ops.lookup import DatasetInitializer as DatasetInitializer
from tfedu.ops.lookup import DenseHashTable as DenseHashTable

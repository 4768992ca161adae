# Generated from the notebooks by `make export`; do not edit.
from tfedu.program.calling import ConcreteFunction as ConcreteFunction
from tfedu.ops.static import TensorLike as TensorLike

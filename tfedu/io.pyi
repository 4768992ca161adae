# Generated from the notebooks by `make export`; do not edit.
from tfedu.ops.example import FixedLenFeature as FixedLenFeature
from tfedu.ops.example import FixedLenSequenceFeature as FixedLenSequenceFeature
from tfedu.ops.example import RaggedFeature as RaggedFeature
from tfedu.ops.example import SparseFeature as SparseFeature
from tfedu.ops.example import VarLenFeature as VarLenFeature
from tfedu.ops.example import parse_example as parse_example
from tfedu.ops.sequence_example import parse_sequence_example as parse_sequence_example
from tfedu.ops.example import parse_single_example as parse_single_example
from tfedu.ops.sequence_example import parse_single_sequence_example as parse_single_sequence_example
from tfedu.ops.wire import parse_tensor as parse_tensor
from tfedu.ops.wire import serialize_tensor as serialize_tensor

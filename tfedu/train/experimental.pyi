# Generated from the notebooks by `make export`; do not edit.
from tfedu.ops.experimental import DynamicLossScale as DynamicLossScale
from tfedu.ops.experimental import FixedLossScale as FixedLossScale
from tfedu.ops.experimental import LossScale as LossScale
from tfedu.program.trackable import PythonState as PythonState
from tfedu.program.coordinate import disable_mixed_precision_graph_rewrite as disable_mixed_precision_graph_rewrite
from tfedu.program.coordinate import enable_mixed_precision_graph_rewrite as enable_mixed_precision_graph_rewrite

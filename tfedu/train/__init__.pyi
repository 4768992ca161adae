# Generated from the notebooks by `make export`; do not edit.
from . import experimental as experimental
from tfedu.program.checkpoint import Checkpoint as Checkpoint
from tfedu.program.manager import CheckpointManager as CheckpointManager
from tfedu.program.checkpoint import CheckpointOptions as CheckpointOptions
from tfedu.program.coordinate import Coordinator as Coordinator
from tfedu.program.averages import ExponentialMovingAverage as ExponentialMovingAverage
from tfedu.program.manager import checkpoints_iterator as checkpoints_iterator
from tfedu.program.manager import get_checkpoint_state as get_checkpoint_state
from tfedu.program.manager import latest_checkpoint as latest_checkpoint
from tfedu.program.manager import list_variables as list_variables
from tfedu.program.manager import load_checkpoint as load_checkpoint
from tfedu.program.manager import load_variable as load_variable

# Generated from the notebooks by `make export`; do not edit.
from tfedu.ops.queue import FIFOQueue as FIFOQueue
from tfedu.ops.queue import PaddingFIFOQueue as PaddingFIFOQueue
from tfedu.ops.queue import PriorityQueue as PriorityQueue
from tfedu.ops.queue import QueueBase as QueueBase
from tfedu.ops.queue import RandomShuffleQueue as RandomShuffleQueue

# Generated from the notebooks by `make export`; do not edit.
from tfedu.ops.experimental import DynamicLossScale as DynamicLossScale
from tfedu.ops.experimental import FixedLossScale as FixedLossScale
from tfedu.ops.experimental import LossScale as LossScale

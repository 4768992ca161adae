# Generated from the notebooks by `make export`; do not edit.
from tfedu.autodiff.accumulator import ForwardAccumulator as ForwardAccumulator
from tfedu.autodiff.tape import GradientTape as GradientTape

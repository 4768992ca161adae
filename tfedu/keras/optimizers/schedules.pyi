# Generated from the notebooks by `make export`; do not edit.
from tfedu.keras.schedule import ExponentialDecay as ExponentialDecay
from tfedu.keras.schedule import InverseTimeDecay as InverseTimeDecay
from tfedu.keras.optimizer import LearningRateSchedule as LearningRateSchedule
from tfedu.keras.schedule import PiecewiseConstantDecay as PiecewiseConstantDecay
from tfedu.keras.schedule import PolynomialDecay as PolynomialDecay
from tfedu.keras.schedule import deserialize as deserialize
from tfedu.keras.schedule import serialize as serialize

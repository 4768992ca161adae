# Generated from the notebooks by `make export`; do not edit.
from . import schedules as schedules
from tfedu.keras.sgd_adam import Adam as Adam
from tfedu.keras.optimizer import Optimizer as Optimizer
from tfedu.keras.sgd_adam import SGD as SGD
from tfedu.keras.sgd_adam import deserialize as deserialize
from tfedu.keras.sgd_adam import get as get
from tfedu.keras.sgd_adam import serialize as serialize

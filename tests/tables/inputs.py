"""Made-up inputs that many cases share."""
import numpy as np


def draw(*shape, low=0.5, high=1.5): return np.random.default_rng(sum(shape) + len(shape)).uniform(low, high, shape)


FLAGS, ROWS = np.array([[True, False, True], [False, True, True]]), np.array([2, 0, 2])
A, B = draw(2, 3), draw(2, 3, low=2, high=4)
ZERO_ONE = np.array([[0., 1., 0.], [0., 0., 1.]])

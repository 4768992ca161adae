"""What the sweep must know about pooling and the connectionist loss."""
import numpy as np

from tables.inputs import draw
from tfedu.ops.pool import fold
from tfedu.ops.window import slide

APART = slide("test", (4, 4), (2, 2), (2, 2), (1, 1))            # every pixel in one window
OVER = slide("test", (4, 3), (3, 2), (2, 1), (1, 1), "SAME")     # windows overlap, and hang over the edge
HOLES = slide("test", (5,), (2,), (1,), (3,), ((1, 0),))
X = {s: np.random.default_rng(7).permutation(4 * np.prod(s.size)).reshape(2, *s.size, 2) / 10 - 2 for s in (APART, OVER, HOLES)}   # no ties
Y = {s: fold(np.maximum, x, s, -np.inf) for s, x in X.items()}


def ranks(x): return np.rint(10 * x).astype(np.int32)


CASES = {
    "max_window": [((X[s],), dict(s=s)) for s in X],
    "sum_window": [((X[s],), dict(s=s, mean=mean)) for s in X for mean in (False, True)],
    "spread_window": [((draw(*y.shape),), dict(s=s, mean=mean)) for s, y in Y.items() for mean in (False, True)],
    "to_first": [((draw(*Y[s].shape), ranks(X[s]), ranks(Y[s])), dict(s=s)) for s in X],   # whole numbers are not nudged
    "at_first": [((draw(*X[s].shape), ranks(X[s]), ranks(Y[s])), dict(s=s)) for s in X],
}
TYPES = {"FLOATING": "affine at_first ctc in_top_k layer_norm log_sigmoid spread_window sum_window thinned to_first", "REAL": "max_window"}
NO_GRADIENT = {"in_top_k"}
NOT_MOVING = {"ctc": ["labels", "label_length", "logit_length"], "to_first": ["x", "out"], "at_first": ["x", "out"]}

LABELS, LENGTHS, FRAMES = np.array([[1, 2, 2], [3, 1, 0], [0, 0, 0]]), np.array([3, 2, 0]), np.array([6, 5, 3])
CASES["ctc"] = [((LABELS, draw(6, 3, 4, low=-1), LENGTHS, FRAMES), {}), ((LABELS, draw(6, 3, 5, low=-1), LENGTHS, FRAMES), dict(blank=4))]
CASES["layer_norm"] = [((draw(2, 3, 4), draw(4), draw(4, low=2, high=3)), {}), ((draw(5), draw(5), draw(5)), {"epsilon": .1})]
CASES["thinned"] = [((draw(3, 4),), {"rate": .4, "shape": (3, 4), "key": 3, "start": 1 << 70}),
                    ((draw(3, 4),), {"rate": .4, "shape": (3, 1), "key": 3, "start": 5})]
CASES["affine"] = [((draw(2, 3, 4), draw(4), draw(4, low=2, high=3)), {}),
                   ((draw(2, 3), draw(1, 3), draw(4, 1, 3)), {}), ((draw(3), np.array(1.5), draw(3)), {})]

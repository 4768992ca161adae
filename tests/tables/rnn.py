"""What the sweep must know about the recurrent op: every cell, with and without bias, mask and outputs of all steps."""
import numpy as np

from tables.inputs import draw

LIVE = np.array([[True, True], [True, False], [False, True]])


def case(width, states, cell, bias=True, **settings):
    "Three steps, two sequences, two units."
    inputs = draw(3, 2, 2 * width, low=-1), draw(2, 2 * width, low=-1), [draw(2, 2, low=-1) for _ in range(states)]
    return (*inputs, *([draw(2 * width, low=-1)] if bias else [])), dict(cell=cell, **settings)


CASES = {"rnn": [case(4, 2, "lstm", every=True, mask=LIVE), case(4, 2, "lstm", bias=False), case(3, 1, "gru", every=True, mask=LIVE),
                 case(3, 1, "gru_reset_before"), case(3, 1, "gru_reset_before", every=True, mask=LIVE),
                 case(1, 1, "simple_rnn", bias=False, every=True)]}
NOT_MOVING = {"rnn": ["mask"]}
TYPES = {"FLOATING": "rnn"}

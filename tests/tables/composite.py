"""What the sweep must know about the ops behind ragged tensors."""
import numpy as np

from tables.inputs import draw

CASES = {"group_max": [((draw(4, 2), np.array([2, 0, 2, 0])), dict(count=3, lowest=-60000)),
                       ((draw(3), np.array([0, 0, 1])), dict(count=2, lowest=0))],
         "check_numerics": [((draw(2, 3),), dict(message="the sweep"))],
         "ensure_shape": [((draw(2, 3),), dict(shape=[None, 3]))]}
NOT_MOVING = {"group_max": ["ids"]}
TYPES = {"REAL": "group_max", "FLOATING": "check_numerics", "ANY": "ensure_shape"}

"""What the sweep must know about sorting, counting, segments and sequences."""
import numpy as np

from tables.inputs import A, draw

PICKS, IDS = np.array([[2, 0, 2, 1], [1, 1, 0, 2]]), np.array([2, 0, 2, -1, 0])
APART = np.array([[0.5, 1.4, 0.9], [1.25, 0.7, 1.1], [1.0, 0.6, 1.3], [0.8, 1.2, 0.75], [1.5, 0.9, 0.55]])

CASES = {
    "sort": [((APART,), {}), ((APART,), dict(axis=0, direction="DESCENDING"))],
    "along": [((A, PICKS), {}), ((A, np.array([[1, 0, 1]])), dict(axis=0))],
    "back_along": [((draw(2, 4), PICKS), dict(size=3)), ((draw(2, 3), np.array([[1, 0, 3], [1, 2, 0]])), dict(size=4, axis=0))],
    "reverse_sequence": [((draw(2, 4, 2), np.array([2, 3])), dict(seq_axis=1)),
                         ((draw(4, 2), np.array([3, 0])), dict(seq_axis=0, batch_axis=1))],
    "segment_total": [((draw(5, 2), IDS), dict(count=4)), ((draw(5), IDS), dict(count=3))],
    "segment_spread": [((draw(3, 2), IDS), {})],
    "segment_largest": [((APART, IDS), dict(count=4))], "segment_smallest": [((APART, IDS), dict(count=4))],
    "segment_product": [((APART, IDS), dict(count=4)), ((APART[:, 0], np.array([0, 0, 1, 1, 1])), dict(count=2))],
}
NO_GRADIENT = """argsort first_places histogram_fixed_width_bins invert_permutation is_non_decreasing is_strictly_increasing nonzero_flags
    searchsorted sequence_mask tally unravel_index"""
NOT_MOVING = {"along": ["index"], "back_along": ["index"], "reverse_sequence": ["seq_lengths"],
              **{f"segment_{name}": ["segment_ids"] for name in ("total", "spread", "largest", "smallest", "product")}}
PLAIN = "as_key"
TYPES = {
    "ANY": "along first_places nonzero_flags reverse_sequence",
    "INDEX": "invert_permutation unravel_index",
    "INTEGER": "sequence_mask tally",
    "NUMBER": "back_along segment_product segment_spread segment_total",
    "REAL": """argsort histogram_fixed_width_bins is_non_decreasing is_strictly_increasing searchsorted segment_largest segment_smallest
        sort""",
}

"""What the sweep must know about images: one op, which blends neighbours along an axis."""
from tables.inputs import draw
from tfedu.ops.resize import weights_of

CASES = {"blend": [((draw(2, 3),), dict(weights=weights_of("bilinear", 3, 5, False), axis=1)),          # one product
                   ((draw(2, 97),), dict(weights=weights_of("bicubic", 97, 40, False), axis=-1)),        # a product, too
                   ((draw(100, 2),), dict(weights=weights_of("bilinear", 100, 8, False), axis=0)),       # tap by tap
                   ((draw(2, 4, 2),), dict(weights=weights_of("area", 4, 3, False), axis=1))]}
TYPES = {"FLOATING": "blend"}

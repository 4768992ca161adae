"""Windows and convolutions."""
from tables.inputs import draw
from tfedu.ops.window import slide

PLANE = slide("test", (4, 5), (3, 2), (2, 1), (1, 2), "SAME")

CASES = {
    "windows": [((draw(2, 4, 5, 2),), dict(s=PLANE))],
    "overlap": [((draw(2, *PLANE.count, *PLANE.window, 2),), dict(s=PLANE))],
}
TYPES = {"NUMBER": "overlap windows"}

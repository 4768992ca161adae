"""Windows and convolutions."""
from tables.inputs import draw
from tfedu.ops.window import slide

PLANE = slide("test", (4, 5), (3, 2), (2, 1), (1, 2), "SAME")   # 2 x 5 places
SPACE = slide("test", (3, 2, 4), (2, 1, 3), (1, 1, 2), (1, 1, 1), ((1, 0), (0, 0), (0, 2)))

CASES = {
    "windows": [((draw(2, 4, 5, 2),), dict(s=PLANE))],
    "overlap": [((draw(2, *PLANE.count, *PLANE.window, 2),), dict(s=PLANE))],
    "convolve": [], "convolve_input": [], "convolve_kernel": [],
}
for s, groups, c, each, k in ((PLANE, 1, 3, 3, 2), (PLANE, 2, 4, 2, 4), (PLANE, 3, 3, 1, 6), (SPACE, 1, 2, 2, 1)):
    x, w, y = draw(2, *s.size, c), draw(*s.window, each, k), draw(2, *s.count, k)
    for name, inputs in (("convolve", (x, w)), ("convolve_input", (y, w)), ("convolve_kernel", (x, y))):
        CASES[name].append((inputs, dict(s=s, groups=groups)))

TYPES = {"NUMBER": "overlap windows", "FLOATING | int32": "convolve convolve_input convolve_kernel"}

"""Pictures of launches: what is drawn agrees with what was noted."""
import re

import numpy as np
import pytest

from tfedu.kernels.kernel import Kernel
from tfedu.kernels.pictures import (
    WAITS,
    barrier_at,
    by_hand,
    draw_banks,
    draw_grids,
    draw_launch,
    draw_sectors,
    draw_warp,
    loops_of,
    paths_of,
    schedule,
)
from tfedu.kernels.roofline import MACHINES, Machine, draw_roofline, verdict

LANES = np.arange(32)


def wavefronts(picture): return 1 if "no conflict" in repr(picture) else int(re.search(r"(\d+) wavefronts", repr(picture))[1])
def sectors(picture): return int(re.search(r"(\d+) sector", repr(picture))[1])


@pytest.mark.parametrize("stride", range(1, 70))
def test_counts_are_those_of_the_formulas(stride):
    assert wavefronts(draw_banks(LANES * stride)) == np.gcd(stride, 32)
    assert sectors(draw_sectors(LANES * 4 * stride)) == min(32, 4 * stride)


@pytest.mark.parametrize("size", [1, 2, 4, 8, 16])
def test_sizes(size):
    assert sectors(draw_sectors(LANES * size, size=size)) == size
    words = by_hand(1, LANES, argument=-1, size=size)
    assert wavefronts(draw_banks(words, 1)) == max(1, size // 4)


def test_idle_lanes_are_left_out():
    assert sectors(draw_sectors(np.where(LANES < 8, LANES * 4, -1))) == 1
    assert wavefronts(draw_banks(np.where(LANES < 2, LANES * 32, -1))) == 2


def program(rng, lane):
    "Lines that a lane visits in a loop (3-9) with an if (4, 5), an else (6), a loop inside (7) and a barrier in each round (8)."
    path = [2]
    for _ in range(3):
        path += [4, 5] if rng.integers(2) else [6]
        path += [7] * int(rng.integers(4))
        path += [-8]
    return [*path, 10]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("together", [True, False])
def test_a_schedule_makes_every_visit_once_and_in_order(seed, together):
    rng = np.random.default_rng(seed)
    paths = [program(rng, lane) for lane in range(8)]
    table = schedule(paths, [(3, 9), (7, 7)], together)
    for row, path in zip(table.tolist(), paths, strict=True): assert [line for line in row if line not in (0, WAITS)] == path
    for column in table.T.tolist():
        running = {line for line in column if line not in (0, WAITS)}
        assert len(running) == 1 or not together, "one instruction stream"
        if min(column) < 0: assert set(column) == {-8}, "a barrier is passed by all at once"
    assert not together or (table[:, -1] == 10).all() and (table[:, 0] == 2).all(), "lanes meet again"


def test_loops():
    assert loops_of("for (;;) for (;;)\n  x;\ny;") == [(1, 2)]
    assert loops_of('printf("while (1) {");\nwhile (a[f(1)])\n{\n}\nx;') == [(2, 4)]
    assert loops_of("int format, dot;") == []


def test_a_real_launch():
    """What is drawn of a report: names of arrays, banks as the counts have them, barriers, warps that wait for each other."""
    turned = Kernel("turn<0>", r"""
template <int PAD> __global__ void turn(const float *from, float *to) {
    __shared__ float tile[32][32 + PAD];
    tile[threadIdx.y][threadIdx.x] = from[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    to[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
""", register=False)
    padded = Kernel("turn<1>", turned.source, register=False)
    x = np.arange(1024, dtype=np.float32)
    for kernel, cost in ((turned, 32), (padded, 1)):
        y = np.zeros(1024, np.float32)
        report = kernel.check(1, (32, 32), (x, y))
        assert np.array_equal(y.reshape(32, 32), x.reshape(32, 32).T)
        count = next(c for c in report.counts if (c.line, c.space) == (6, "shared"))
        assert wavefronts(draw_banks(report, 6, warp=3)) == cost == count.per_request
        assert "to, written 4 sectors" in repr(draw_sectors(report, 6, warp=31)) and "from, read" in str(draw_launch(report, 4))
        assert str(draw_warp(report, lanes=False)).count("<rect") > 3 * 32 and "__syncthreads();" in str(draw_warp(report))
    assert paths_of(report, 0, [5, 1023]) == [[4, -5, 6]] * 2


def test_barriers_by_hand():
    rows = np.concatenate([by_hand(2, LANES), barrier_at(3), by_hand(4, LANES // 16 - 1)])
    assert paths_of(rows, 0, [0, 31]) == [[2, -3], [2, -3, 4]]


def test_what_is_not_there_is_named():
    rows = by_hand(3, LANES)
    with pytest.raises(ValueError, match=r"line 4 of block 0.*lines \[3\]"): draw_launch(rows, 4)
    with pytest.raises(ValueError, match="no shared memory in line 3"): draw_banks(rows, 3)
    with pytest.raises(ValueError, match="shapes are given"): draw_grids(rows, {7: (4, 8)})
    with pytest.raises(ValueError, match="expected a Machine or one of laptop"): draw_roofline({"f": 1.}, "Cray")
    with pytest.raises(ValueError, match="intensity above 0"): draw_roofline({"f": 0.})


def test_large_patterns_stay_small_and_repeat():
    rows = np.concatenate([by_hand(2, np.arange(1024) * 7), by_hand(3, np.arange(1024) // 2, 1, 8, True)])
    drawings = (lambda: draw_launch(rows, threads=range(64)), lambda: draw_grids(rows, {0: (99, 99)}), lambda: draw_warp(rows, warp=31),
                lambda: draw_warp(rows, lanes=False), lambda: draw_sectors(rows, 2, warp=3),
                lambda: draw_roofline({"f": 3., "g": (1., 1e9)}))
    for draw in drawings:
        assert str(draw()) == str(draw()) and draw().width < 1100 and len(str(draw())) < 200_000


def test_roofs():
    assert all(m.attainable(m.ridge) == pytest.approx(m.flops) for m in MACHINES.values())
    assert verdict(Machine("m", 1e12, 1e11), 5, 2.5e11) == "5 per byte: memory allows 500 G/s, reached 50%"

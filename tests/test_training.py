"""The tour's network learns from any start, not only from the one that the tour shows."""
import nbformat
import pytest
from runner import ROOT, is_run


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3, 4])
def test_the_tour_reaches_its_accuracy_from_another_start(seed, capsys):
    "Runs the tour's code up to its accuracy, with other first weights."
    cells = [cell.source for cell in nbformat.read(ROOT / "nbs/00_tour.ipynb", 4).cells if is_run(cell)]
    last = next(i for i, source in enumerate(cells) if "final = accuracy()" in source)
    source = "\n".join(cells[:last + 1])
    assert source.count("tf.random.set_seed(1)") == 1
    tour = {"__name__": "tour"}
    exec(compile(source.replace("set_seed(1)", f"set_seed({seed})"), "tour", "exec"), tour)
    assert tour["final"] >= 0.95 and len(tour["x_train"]) == 4000 and len(tour["x_test"]) == 1000

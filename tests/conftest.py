"""What all tests share: the repository's folder, `--slow`, and the record of the public names that the tests use."""
import json
import os
import sys
from pathlib import Path

import pytest
from hypothesis import configuration, settings

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / ".ci"))

# Tests share the cores, so the kernels that they start use one thread each.
if "PYTEST_XDIST_WORKER" in os.environ:
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"): os.environ.setdefault(variable, "1")

# Property tests: the same few examples every time, or with --slow many new ones, and on failure a line that brings the example back.
# Cores are shared and the first call of an op loads its module, so no example has a deadline.
configuration.set_hypothesis_home_dir(ROOT / "build" / "hypothesis")
settings.register_profile("steady", deadline=None, derandomize=True, max_examples=60)
settings.register_profile("nightly", deadline=None, max_examples=1000, print_blob=True)
THOROUGH = {"steady": 200, "nightly": 10_000}
PROFILE = ["steady"]     # the one in use, chosen before any test is collected


def thorough():
    "Settings of the properties of single ops, of which one example costs little: more examples than the profile has."
    return settings(max_examples=THOROUGH[PROFILE[0]])


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="run the tests marked slow too")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--slow"): return
    slow = [item for item in items if item.get_closest_marker("slow")]
    config.hook.pytest_deselected(items=slow)
    items[:] = [item for item in items if item not in slow]


@pytest.fixture(scope="session")
def root():
    "The repository's folder."
    return ROOT


class Record:
    """Writes build/called.json: the public names that passed tests use. And counts: golden cases, and what the sweep covered.

    A name counts when `tf.math.add` or the like stands in a test function that passed, in the rest of a file of which a test
    passed, or in a notebook that re-ran; not when it is only an argument of isinstance, hasattr and their like. Sweeps, which
    take names from a table, say `record_property("called", "tf.math.add")`. Reading the source costs nothing while the tests
    run and replaces nothing, so that functions keep their identity and classes their instances.
    """
    def __init__(self): self.passed, self.named, self.golden, self.swept = set(), set(), 0, set()

    def pytest_runtest_logreport(self, report):
        if report.when != "call" or not report.passed: return
        self.passed.add(report.nodeid)
        self.named.update(value for key, value in report.user_properties if key == "called")
        self.golden += sum(value for key, value in report.user_properties if key == "golden")
        self.swept.update(value for key, value in report.user_properties if key == "sweep")

    def pytest_terminal_summary(self, terminalreporter):
        if self.golden: terminalreporter.write_line(f"golden: {self.golden} answers of TensorFlow reproduced")
        if self.swept: terminalreporter.write_line(f"sweep: {len(self.swept)} op x dtype x case")

    def pytest_sessionfinish(self):
        from called import used
        if self.passed:
            path = ROOT / "build" / "called.json"
            path.parent.mkdir(exist_ok=True)
            path.write_text(json.dumps(used(ROOT, self.passed, self.named), indent=0) + "\n", encoding="utf-8")


def pytest_configure(config):
    PROFILE[0] = "nightly" if config.getoption("--slow") else "steady"
    settings.load_profile(PROFILE[0])   # pytest's --hypothesis-profile, if given, comes after
    if not hasattr(config, "workerinput"): config.pluginmanager.register(Record())

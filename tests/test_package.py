"""The package alone: what `pip install .` puts on a machine that has only NumPy and ml_dtypes."""
import os
import shutil
import subprocess
import sys
from importlib.metadata import files
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def site(root, tmp_path_factory):
    "A folder with the installed package, NumPy and ml_dtypes, and nothing else."
    source, site = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("site")
    for name in ("setup.py", "settings.ini", "README.md", "LICENSE"): shutil.copy(root / name, source)
    shutil.copytree(root / "tfedu", source / "tfedu", ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps",
                    "--no-build-isolation", "--target", site, source], check=True, capture_output=True, text=True)
    for package in ("numpy", "ml_dtypes"):
        for top in {f.parts[0] for f in files(package) if f.parts[0] != ".." and f.parts[0] != "__pycache__"}:
            (site / top).symlink_to(next(Path(f.locate()).parents[len(f.parts) - 2] for f in files(package) if f.parts[0] == top))
    return site


def run(site, code):
    "Run `code` where only `site` and the standard library can be imported, with no way to the network."
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "COV"))}
    nowhere = {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9", "KERAS_HOME": str(site / "no_cache")}
    code = f"import sys; sys.path.insert(0, {str(site)!r}); {code}"
    return subprocess.run([sys.executable, "-I", "-S", "-c", code], check=True, capture_output=True, text=True, env=clean | nowhere).stdout


def test_every_module_imports_with_numpy_alone(site, root):
    names = [".".join(f.relative_to(root).with_suffix("").parts) for f in (root / "tfedu").rglob("*.py") if f.stem != "__init__"]
    loaded = run(site, f"import importlib, tfedu; [importlib.import_module(n) for n in {names!r}]; "
                       "print(tfedu.__file__); print(*{m.partition('.')[0] for m in sys.modules} - sys.stdlib_module_names)").splitlines()
    assert loaded[0].startswith(str(site))
    assert {m for m in loaded[1].split() if not m.startswith("_")} <= {"tfedu", "numpy", "ml_dtypes"}


def test_data_and_stubs_are_shipped(site, root):
    shipped = {f.relative_to(root).as_posix() for f in (root / "tfedu").rglob("*")
               if f.is_file() and f.suffix != ".pyc"}
    assert not sorted(f for f in shipped if not (site / f).is_file())


def test_version_is_the_same_everywhere(site, root):
    version, _, own = run(site, "import tfedu; print(tfedu.__version__, tfedu.version.VERSION)").strip().partition(" ")
    assert version == own and version.startswith("2.4.4+tfedu.")   # TensorFlow's version first, the package's behind it
    version = version.partition("+tfedu.")[2]
    assert [p.name for p in site.glob("tfedu-*.dist-info")] == [f"tfedu-{version}.dist-info"]

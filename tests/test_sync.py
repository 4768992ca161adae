"""What is generated is what the notebooks generate: clean notebooks, tfedu/, the public names, the stubs and README.md."""
import shutil
import subprocess
import sys


def contents(root):
    "Path -> bytes of everything that `make export` may write."
    files = [root / "README.md", *(root / "nbs").rglob("*.ipynb"), *(root / "tfedu").rglob("*.py*")]
    return {f.relative_to(root).as_posix(): f.read_bytes() for f in files
            if not {"__pycache__", ".ipynb_checkpoints"} & set(f.parts)}


def test_export_changes_nothing(root, tmp_path):
    copy = tmp_path / "copy"
    skip = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
    for part in ("nbs", "tfedu", ".ci"): shutil.copytree(root / part, copy / part, ignore=skip)
    shutil.copy(root / "settings.ini", copy)
    for exported in (copy / "tfedu").rglob("*.py"):
        if not exported.name.startswith("_"): exported.unlink()   # so that a module without a notebook shows
    subprocess.run([sys.executable, copy / ".ci" / "notebooks.py", "export"], check=True, capture_output=True, text=True, cwd=copy)
    before, after = contents(root), contents(copy)
    changed = sorted(f for f in before.keys() | after.keys() if before.get(f) != after.get(f))
    assert not changed, "run `make export`: these files are not what the notebooks say"

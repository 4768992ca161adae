"""Public names: found when they are asked for, seen by editors, in nobody's way."""
import ast
import re
import subprocess
import sys
from importlib import import_module
from operator import attrgetter

import names as generator
import pytest

import tfedu as tf
from tfedu._names import NAMES
from tfedu.core.publish import PUBLIC

ALL = [(space, name) for space, table in NAMES.items() for name in table]


def run(code, *options):
    "Run `code` in a fresh interpreter; returns what it prints."
    return subprocess.run([sys.executable, *options, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def test_every_name_leads_to_its_definition():
    for space, name in ALL:
        module, attribute = NAMES[space][name]
        holder = import_module(f"tfedu.{space}".rstrip("."))
        assert getattr(holder, name) is getattr(import_module(module), attribute), f"{space}.{name}"
        assert name in dir(holder)


def test_importing_the_package_loads_no_part_of_it():
    loaded = run("import sys, tfedu; print(*sorted(m for m in sys.modules if m.startswith('tfedu.') and sys.modules[m].__spec__))")
    assert loaded.split() == ["tfedu._names", "tfedu.core", "tfedu.core.docs", "tfedu.core.publish"]


def test_namespaces_are_modules():
    assert run("import tfedu.errors as e; from tfedu.errors import OpError; from tfedu import errors; print(e is errors)") == "True"
    code = "from tfedu.keras import datasets; import tfedu.keras.dataset; import tfedu as tf; print(tf.keras.datasets is datasets)"
    assert run(code) == "True"


def test_a_missing_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'tfedu' has no attribute 'no_such_name'"): tf.no_such_name
    with pytest.raises(AttributeError, match="module 'tfedu.errors' has no attribute 'no_such_name'"): tf.errors.no_such_name
    with pytest.raises(ImportError, match="no_such_name"): import_module("tfedu.no_such_name")


def test_public_names_have_docstrings():
    for module in generator.modules(generator.ROOT): import_module(module)
    found = {public: getattr(import_module(module), attribute) for public, (module, attribute) in PUBLIC.items()}
    silent = [public for public, value in found.items() if callable(value) and not getattr(value, "__doc__", None)]
    assert not silent, "public names without a docstring"


def test_no_module_has_the_name_of_a_namespace(root):
    modules = set(generator.modules(root))
    spaces = {f"tfedu.{space}" for space in NAMES if space}
    assert not modules & spaces, "import would find the module, not the namespace; rename the notebook"
    folders = {".".join(f.relative_to(root).parts) for f in (root / "tfedu").rglob("*") if f.is_dir() and any(f.glob("*.py"))}
    public = {f"tfedu.{space}.{name}".replace("..", ".") for space, name in ALL}
    assert not (modules | folders) & public, "importing the module would hide the definition of the same name"


def test_stubs_name_what_exists(root):
    for path in (root / "tfedu").rglob("*.pyi"):
        space = path.parent if path.name == "__init__.pyi" else path.with_suffix("")
        listed = {a.asname for node in ast.parse(path.read_text()).body if isinstance(node, ast.ImportFrom) for a in node.names}
        dotted = ".".join(space.relative_to(root / "tfedu").parts)
        assert listed == {*NAMES[dotted], *generator.children(dotted, NAMES)}, path.name


def test_the_readme_knows_every_folder_and_what_exists(root):
    text = (root / "README.md").read_text(encoding="utf-8")
    for folder in (root / "nbs").glob("[!.]*"):   # JupyterLab keeps checkpoints in hidden ones
        if any(folder.glob("*.ipynb")): assert f"| `nbs/{folder.name}` |" in text, f"{folder.name} is not in the table of README.md"
    rows = [line.strip("|").rsplit("|", 1) for line in text.splitlines() if line.startswith("|")]
    done = [name for row in rows if row[1].strip() == "yes" for name in re.findall(r"`(tf\.[\w.]+)`", row[0])]
    planned = [name for row in rows if row[1].strip() == "planned" for name in re.findall(r"`(tf\.[\w.]+)`", row[0])]
    assert "tf.function" in done and "tf.saved_model" in done and "tf.data" in planned
    for name in done: assert attrgetter(name.removeprefix("tf."))(tf) is not None
    for name in planned: assert not callable(getattr(tf, name.removeprefix("tf."), None)), f"{name} is there, README.md says planned"

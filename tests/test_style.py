"""The rules that keep the series readable: layers point down, steps stay small, and every step is introduced in words."""
import ast
import re
import subprocess
import sys
import tokenize
from functools import lru_cache
from io import StringIO

import nbformat
import pytest
from runner import ROOT, directives, notebooks, text_outputs

MAX_CELL, MAX_CELLS, MAX_LINES = 25, 25, 300
LONGER = {}   # (notebook, name of its longest definition): the reason why that cell may be longer
UPWARD = {("1_core/140_tensor", "tfedu.ops."): "the first op that is missing loads the modules that declare ops",
          ("1_core/135_device", "tfedu.kernels.gpu"): "whoever drives cards is asked for them when a program asks for devices",
          ("1_core/135_device", "tfedu.kernels.promotion"): "where there is a card, our kernels are what runs on it",
          ("4_kernels/490_selfcheck", "tfedu.keras.sgd_adam"): "the check of a card takes steps of optimizers there",
          ("4_kernels/490_selfcheck", "tfedu.program.function"): "and runs a graph",
          ("4_kernels/490_selfcheck", "tfedu.kernels."): "the check of all kernels imports the modules that hold them",
          ("3_autodiff/300_tape", "tfedu.program.jacobian"): "the first Jacobian loads the module that walks once for all seeds",
          ("5_program/500_graph", "tfedu.program.viewer"): "a graph that a notebook shows is drawn, by what needs all of this part",
          ("5_program/550_function", "tfedu.program.viewer"): "and so is a concrete function"}


def name(path): return path.relative_to(ROOT / "nbs").with_suffix("").as_posix()


class Page:
    "A notebook, with what the rules ask about it."
    def __init__(self, path):
        self.path, self.cells = path, nbformat.read(path, 4).cells
        self.code = [c for c in self.cells if c.cell_type == "code"]
        self.exported = [c for c in self.code if {"export", "exports", "exporti"} & directives(c.source).keys()]
        self.module = next((d["default_exp"] for c in self.code if "default_exp" in (d := directives(c.source))), None)
        self.number = int(re.match(r"\d+", path.name)[0]) if path.name[0].isdigit() else None


@lru_cache
def page(path): return Page(path)


def is_other_language(cell): return cell.source.startswith("%%")   # CUDA C


def parse(cell): return ast.parse("" if is_other_language(cell) else re.sub(r"^\s*[%!].*$", "", cell.source, flags=re.M))


def is_definition(node): return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)


def is_check(node):
    "A statement that only makes sure of something: `assert`, a call of `test_eq`, `check`, `agree`, `assert_allclose`, an expected error."
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return bool(re.search(r"\b(test|check|assert|agree)", ast.unparse(node.value.func)))
    if isinstance(node, ast.Try): return all(is_check(step) for handler in node.handlers for step in handler.body)
    return isinstance(node, ast.Assert)


def code_lines(source):
    "Numbers of the lines that hold code: no blank lines, comments, docstrings, imports; a signature counts as one line."
    lines = set()
    skip = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    for token in tokenize.generate_tokens(StringIO(source).readline):
        if token.type not in skip: lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom): lines -= set(range(node.lineno, node.end_lineno + 1))
        if not is_definition(node): continue
        first = node.body[0]
        if ast.get_docstring(node) is not None: lines -= set(range(first.lineno, first.end_lineno + 1)) - {node.lineno}
        if not isinstance(node, ast.ClassDef): lines -= set(range(node.lineno + 1, first.lineno))
    return lines


def test_code_lines_leave_out_words():
    source = 'import numpy\n\n# words\ndef f(\n    a,  # words\n    b,\n):\n    "Words."\n    c = a\n    return (c +\n            b)\n'
    assert code_lines(source) == {4, 9, 10, 11}


every = pytest.mark.parametrize("path", notebooks(), ids=name)
exporting = pytest.mark.parametrize("path", [p for p in notebooks() if page(p).module], ids=name)


@exporting
def test_one_notebook_one_module(path):
    folder, leaf = path.parent.name.split("_", 1)[1], path.stem.split("_", 1)[1]
    assert page(path).module == f"{folder}.{leaf}", "a module is called as its folder and its notebook"
    assert path.name[0] == path.parent.name[0], "the first digit of a notebook is its layer"
    explicit = [c.source for c in page(path).exported if any(directives(c.source).get(d) for d in ("export", "exports"))]
    assert not explicit, "a cell is exported to its own notebook's module"


def test_numbers_are_given_once():
    numbers = [page(p).number for p in notebooks() if page(p).module]
    assert len(numbers) == len(set(numbers))


def imported(node, order):
    "Names of the modules that one node of a syntax tree imports; `order` knows the series, so that `from tfedu.core import trace` is one."
    if isinstance(node, ast.Import): return [a.name for a in node.names]
    if isinstance(node, ast.ImportFrom):
        inner = [f"{node.module}.{a.name}" for a in node.names]
        return inner if order.keys() >= set(inner) else [node.module or "."]
    if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in ("import_module", "__import__") and node.args:
        first = node.args[0].values[0] if isinstance(node.args[0], ast.JoinedStr) else node.args[0]
        if isinstance(first, ast.Constant): return [first.value]   # of `f"tfedu.ops.{name}"`, what is known: "tfedu.ops."
    return []


@every
def test_imports_point_down(path):
    "What is exported uses smaller numbers only, also inside functions; a demonstration may show what comes later."
    order = {f"tfedu.{page(p).module}": page(p).number for p in notebooks() if page(p).module}
    for cell in page(path).code:
        for node in ast.walk(parse(cell)):
            assert not (isinstance(node, ast.ImportFrom) and any(a.name == "*" for a in node.names)), "no star imports"
            if cell not in page(path).exported: continue
            for module in imported(node, order):
                if module.split(".")[0] != "tfedu" or (name(path), module) in UPWARD: continue
                assert module in order, f"{module}: exported code imports modules of other notebooks, not public names"
                assert order[module] < page(path).number, f"{module} ({order[module]}) comes later in the series"


def test_imports_are_found_wherever_they_stand():
    order = {"tfedu.core.trace": 130, "tfedu.ops.math": 200}
    source = """
from tfedu.core import trace
def f():
    import tfedu.ops.math
    import_module("tfedu.keras.optimizer")
    importlib.import_module(f"tfedu.ops.{name}")
    import_module(name)
"""
    found = [module for node in ast.walk(ast.parse(source)) for module in imported(node, order)]
    assert found == ["tfedu.core.trace", "tfedu.ops.math", "tfedu.keras.optimizer", "tfedu.ops."]


@exporting
def test_steps_are_small(path):
    exported, total = page(path).exported, 0
    assert len(exported) <= MAX_CELLS, "too many exported cells: is it two notebooks?"
    for cell in exported:
        lines = len(code_lines(cell.source))
        total += lines
        first = next((node.name for node in parse(cell).body if is_definition(node)), "")
        if (name(path), first) not in LONGER: assert lines <= MAX_CELL, f"{lines} lines of code in one step:\n{cell.source}"
    assert total <= MAX_LINES, "too many exported lines: is it two notebooks?"


@every
def test_every_step_is_introduced(path):
    cells = page(path).cells
    for before, cell in zip([None, *cells], cells, strict=False):
        if cell.cell_type != "code" or {"hide", "default_exp"} & directives(cell.source).keys(): continue
        body = parse(cell).body
        python = not is_other_language(cell)
        if python and all(isinstance(node, ast.Import | ast.ImportFrom) for node in body): continue
        exported = cell in page(path).exported
        if python and not exported and all(is_check(node) for node in body): continue   # the check of the value shown above it
        assert before is not None and before.cell_type == "markdown", f"no sentence says why this comes:\n{cell.source}"


@every
def test_skeleton(path):
    text = [c.source for c in page(path).cells if c.cell_type == "markdown"]
    assert re.match(r"# .+\n\n> .+\n", text[0] + "\n"), "a notebook begins with a title and one quoted sentence"
    if not page(path).module: return
    assert "default_exp" in directives(page(path).code[0].source)
    joined = "\n".join(text)
    assert "## What we built" in joined
    assert len(re.findall(r"\*\*Exercise", joined)) >= 3, "three exercises: recall, extend, break"
    assert {"hide", "eval"} <= directives(page(path).code[-1].source).keys() and "nbdev_export" in page(path).code[-1].source


@exporting
def test_definitions_have_docstrings(path):
    silent = [node.name for cell in page(path).exported for node in parse(cell).body
              if is_definition(node) and not node.name.startswith("_") and not ast.get_docstring(node)]
    assert not silent


@every
def test_outputs_are_the_same_everywhere(path):
    for cell in page(path).code:
        for kind, text in text_outputs(cell):
            assert kind != "error", cell.source
            assert not re.search(r"\b0x[0-9a-f]{6,}", text), f"a memory address in an output:\n{text}"


PLACES = re.compile(r"(?<![\w.])/(?:home|root|Users|tmp|work|private|var/folders)/|[A-Z]:\\\\?Users")
PICTOGRAMS = re.compile("[\U0001F000-\U0001FAFF\u2600-\u27BF\u2B50\u2B55\uFE0F]")


def texts(root):
    "Path and text of every file that people read."
    names = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=root, capture_output=True, text=True).stdout.split("\n")
    for path in (root / n for n in names if n):
        if path.is_file() and path.suffix not in (".ipynb", ".lock") and b"\0" not in (data := path.read_bytes()):   # no data files
            yield path, data.decode("utf-8")
    for path in notebooks(root):
        shown = [text for cell in page(path).code for _, text in text_outputs(cell)]
        yield path, "\n".join([*(cell.source for cell in page(path).cells), *shown])


def test_no_machine_paths_and_no_pictograms(root):
    found = [f"{path.name}: {hit[0]}" for path, text in texts(root) for rule in (PLACES, PICTOGRAMS) for hit in rule.finditer(text)]
    assert not found


def test_ruff(root):
    done = subprocess.run([sys.executable, "-m", "ruff", "check", "--config", ".ci/ruff.toml", "--output-format", "concise", "--no-cache",
                           "tfedu", "tests", "docs", "benchmarks", "nbs", ".ci", "setup.py"], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout

"""Which public names does a piece of source use? Read by tests/conftest.py, which explains what counts."""
import ast
import re
from collections import defaultdict

from runner import is_run, notebooks

ASKING = {"isinstance", "issubclass", "hasattr", "getattr"}


def chain(node):
    "`tf.math.add` -> ['tf', 'math', 'add']; None for anything but names and dots."
    names = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return [node.id, *reversed(names)] if isinstance(node, ast.Name) else None


class Names(ast.NodeVisitor):
    "Collects the dotted names below `tf` that a tree uses, by the test function in which they stand ('' outside of one)."
    def __init__(self, public):
        self.public, self.alias, self.where, self.found = public, {}, "", defaultdict(set)

    def visit_Import(self, node):
        for a in node.names:
            path = a.name.split(".")
            if path[0] == "tfedu": self.alias[a.asname or "tfedu"] = ["tf", *(path[1:] if a.asname else [])]

    def visit_ImportFrom(self, node):
        path = (node.module or "").split(".")
        if path[0] == "tfedu":
            for a in node.names: self.alias[a.asname or a.name] = ["tf", *path[1:], a.name]

    def visit_Assign(self, node):
        "`layers = tf.keras.layers` is one more way to say the longer name."
        self.generic_visit(node)
        path = chain(node.value)
        if path and path[0] in self.alias and isinstance(node.targets[0], ast.Name):
            self.alias[node.targets[0].id] = [*self.alias[path[0]], *path[1:]]

    def visit_FunctionDef(self, node):
        outer = self.where
        if node.name.startswith("test"): self.where = node.name
        self.generic_visit(node)
        self.where = outer

    def visit_Call(self, node):
        if isinstance(node.func, ast.Name) and node.func.id in ASKING: return
        self.generic_visit(node)

    def visit_Attribute(self, node):
        self.use(chain(node))
        self.generic_visit(node)

    def visit_Name(self, node): self.use([node.id])

    def use(self, path):
        if path and path[0] in self.alias:
            name = ".".join([*self.alias[path[0]], *path[1:]])
            if name in self.public: self.found[self.where].add(name)


def read(source, public):
    "Test function -> names that `source` uses in it."
    names = Names(public)
    names.visit(ast.parse(source))
    return names.found


def used(root, passed, named):
    "Sorted public names that the `passed` tests (node ids) use, with their other names; `named` are added."
    from tfedu._names import NAMES
    public = {".".join(filter(None, ("tf", space, name))): target for space, table in NAMES.items() for name, target in table.items()}
    tests, found = defaultdict(set), set(named)
    for nodeid in passed:
        file, _, test = nodeid.partition("::")
        tests[file.rpartition("/")[2]].add(re.sub(r"\[.*", "", test).rpartition("::")[2])
    for path in (root / "tests").rglob("test_*.py"):
        if ran := tests.get(path.name):
            for where, names in read(path.read_text(encoding="utf-8"), public).items():
                if where in ran or not where: found |= names
    reran = " ".join(nodeid for nodeid in passed if "test_notebooks" in nodeid)
    for path in notebooks(root):
        if path.stem in reran:
            for names in read(python(path), public).values(): found |= names
    targets = {public[name] for name in found if name in public}
    return sorted(name for name, target in public.items() if target in targets)


def python(path):
    "The Python code of a notebook's executed cells, without magics and cells in another language."
    import nbformat
    cells = [cell.source for cell in nbformat.read(path, 4).cells if is_run(cell) and not cell.source.startswith("%%")]
    return re.sub(r"^\s*[%!].*$", "", "\n".join(cells), flags=re.M)

"""Write tfedu/_names.py and the .pyi stubs from what the notebooks publish.

usage: names.py [--check]     --check writes nothing and fails when a file would change

A definition says its public names (`@publish("tf.math.add")`); importing every exported module collects them in PUBLIC.
From that table come
- tfedu/_names.py: namespace -> public name -> (module, attribute), read by `import tfedu`;
- tfedu/__init__.pyi, tfedu/math.pyi, tfedu/keras/__init__.pyi ...: the same for editors and type checkers, which cannot
  follow names that are imported when they are first used. A namespace that holds others is a folder, another one a file.
"""
import argparse
import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADER = "Generated from the notebooks by `make export`; do not edit."


def modules(root):
    "Dotted names of all exported modules below `root`/tfedu."
    files = sorted((root / "tfedu").rglob("*.py"))
    return [".".join(f.relative_to(root).with_suffix("").parts) for f in files if not f.name.startswith("_")]


def namespaces(public):
    "Group `public` (name -> (module, attribute)) by namespace; every parent of a namespace is there too."
    tables = {"": {}}
    for name, target in sorted(public.items()):
        _, *spaces, leaf = name.split(".")
        for depth in range(len(spaces)): tables.setdefault(".".join(spaces[: depth + 1]), {})
        tables[".".join(spaces)][leaf] = target
    taken = {f"tf.{space}" for space in tables} & public.keys()
    if taken: raise ValueError(f"names.py: both a namespace and a definition: {', '.join(sorted(taken))}")
    return dict(sorted(tables.items()))


def children(space, tables):
    "Names of the namespaces directly below `space`."
    prefix = space + "." if space else ""
    return sorted(s[len(prefix):] for s in tables if s and s.startswith(prefix) and "." not in s[len(prefix):])


def names_file(tables):
    "Text of tfedu/_names.py."
    lines = [f'"""{HEADER}"""', "", "NAMES = {"]
    for space, table in tables.items():
        lines += [f'    "{space}": {{'] + [f'        "{n}": ("{m}", "{a}"),' for n, (m, a) in table.items()] + ["    },"]
    return "\n".join([*lines, "}", ""])


def stub(space, tables):
    "Text of the stub of one namespace."
    lines = [f"# {HEADER}"]
    lines += [f"from . import {child} as {child}" for child in children(space, tables)]
    lines += [f"from {m} import {a} as {n}" for n, (m, a) in tables[space].items()]
    if not space: lines += ["", "__version__: str"]
    return "\n".join([*lines, ""])


def generated(root):
    "Path below `root` -> text, for every generated file."
    sys.path.insert(0, str(root))
    for module in modules(root): import_module(module)
    tables = namespaces(import_module("tfedu.core.publish").PUBLIC)
    files = {"tfedu/_names.py": names_file(tables), "tfedu/py.typed": ""}
    for space in tables:
        path = Path("tfedu", *space.split(".")) if space else Path("tfedu")
        folder = bool(children(space, tables)) or (root / path).is_dir()
        files[(path / "__init__.pyi" if folder else path.with_suffix(".pyi")).as_posix()] = stub(space, tables)
    return files


def write(root, check=False):
    "Write the generated files below `root`, or only `check` them. Returns the paths of those that are (or were) out of date."
    names = root / "tfedu" / "_names.py"
    if not names.exists(): names.write_text('NAMES = {"": {}}\n', encoding="utf-8")
    files = generated(root)
    changed = [f for f, text in files.items() if not (p := root / f).exists() or p.read_text(encoding="utf-8") != text]
    stale = sorted({p.relative_to(root).as_posix() for p in (root / "tfedu").rglob("*.pyi")} - files.keys())
    if not check:
        for f in changed:
            (root / f).parent.mkdir(parents=True, exist_ok=True)
            (root / f).write_text(files[f], encoding="utf-8", newline="\n")
        for f in stale: (root / f).unlink()
    return changed + stale


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, fail when a file would change")
    parser.add_argument("--root", type=Path, default=ROOT, help="another copy of the repository")
    args = parser.parse_args()
    changed = write(args.root.resolve(), args.check)
    for f in changed: print("out of date:" if args.check else "wrote", f)
    return args.check and bool(changed)


if __name__ == "__main__": sys.exit(main())

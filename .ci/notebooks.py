"""Write notebooks as text, run them, and turn them into the package.

usage: notebooks.py draft 1_core/140_op     notebook -> build/drafts/1_core/140_op.py, a plain file with `# %%` cells
       notebooks.py build 1_core/140_op     draft -> notebook, executed in a fresh kernel, cleaned and exported
       notebooks.py run 1_core/140_op       execute the notebook as it is and store its outputs
       notebooks.py export                  clean all notebooks, write tfedu/, the public names, the stubs and README.md
"""
import argparse
import os
import re
import sys
import tempfile
from pathlib import Path

import jupytext
import names
import nbdev.clean
import nbdev.doclinks
import nbformat
from runner import FAILURES, ROOT, Runner, directives, fresh, offline_environment, text_outputs

clean, write_modules = nbdev.clean.nbdev_clean.__wrapped__, nbdev.doclinks.nbdev_export.__wrapped__   # without their command lines


def notebook(root, name): return root / "nbs" / f"{name}.ipynb"
def draft_file(root, name): return root / "build" / "drafts" / f"{name}.py"


def draft(root, name):
    "Write the notebook as text."
    target = draft_file(root, name)
    target.parent.mkdir(parents=True, exist_ok=True)
    jupytext.write(jupytext.read(notebook(root, name)), target, fmt="py:percent")
    print(target.relative_to(root))


def undraft(root, name):
    "Write the draft as a notebook; unchanged cells keep their ids."
    target, nb = notebook(root, name), jupytext.read(draft_file(root, name))
    if target.exists(): nb = jupytext.combine.combine_inputs_with_outputs(nb, nbformat.read(target, 4))
    nb.metadata = {"kernelspec": {"display_name": "python3", "language": "python", "name": "python3"}}
    target.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(nb, target)


def run(root, name):
    "Execute the notebook and store its outputs. Returns whether it succeeded."
    path = notebook(root, name)
    nb = fresh(path)
    with tempfile.TemporaryDirectory() as folder:
        try: Runner(nb, folder, timeout=600).execute(env=offline_environment(folder))
        except FAILURES as error:
            print(f"{name}: {error}", file=sys.stderr)
            return False
    nbformat.write(nb, path)
    clean(fname=str(path))
    return True


def readme(root):
    "The text of README.md: what nbs/index.ipynb says and shows as text."
    parts = []
    for cell in nbformat.read(root / "nbs" / "index.ipynb", 4).cells:
        flags = directives(cell.source) if cell.cell_type == "code" else {}
        if cell.cell_type == "markdown": parts.append(cell.source.strip())
        elif cell.cell_type == "code" and "hide" not in flags:
            source = re.sub(r"^#\|.*\n?", "", cell.source, flags=re.M).strip()
            parts.append(f"```python\n{source}\n```")
            shown = "".join(text for _, text in text_outputs(cell)).rstrip()
            if shown: parts.append("\n".join("    " + line for line in shown.splitlines()))
    note = "<!-- Written from nbs/index.ipynb by `make export`; edit the notebook. -->"
    return "\n\n".join([*parts, note]) + "\n"


def export(root):
    "Bring everything that is generated up to date."
    clean()
    write_modules()
    names.write(root)
    (root / "README.md").write_text(readme(root), encoding="utf-8", newline="\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["draft", "build", "run", "export"])
    parser.add_argument("notebooks", nargs="*")
    parser.add_argument("--root", type=Path, default=ROOT, help="another copy of the repository")
    args = parser.parse_args()
    root = args.root.resolve()
    os.chdir(root)   # nbdev looks for settings.ini from here
    done = True
    for name in args.notebooks:
        if args.command == "draft": draft(root, name)
        if args.command == "build":
            undraft(root, name)
            write_modules(path=notebook(root, name))
        if args.command in ("build", "run"): done &= run(root, name)
    if args.command == "export": export(root)
    return not done


if __name__ == "__main__": sys.exit(main())

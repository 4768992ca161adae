"""The rows of nbs/3_autodiff/318_right.ipynb: an expression, where, what TensorFlow says, what tfedu says, why.

Run with a Python that has TensorFlow, this file asks it again and prints the rows whose recorded answer is another one:

    python tests/right_rows.py
"""
import json
import re
from pathlib import Path

PAGE = Path(__file__).parent.parent / "nbs" / "3_autodiff" / "318_right.ipynb"


def page(tf, np) -> dict:
    "The helpers and tables of the page, with `tf` as the library that is asked."
    names = {"tf": tf, "np": np, "nan": float("nan"), "inf": float("inf")}
    for cell in json.loads(PAGE.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code" and re.search(r"^def (slope|same|ask)\(|^\w+ = \[$|^half = ", source, re.MULTILINE):
            exec(re.sub(r"^(compare\(.*|class Table:(\n    .*)*)$", "", source, flags=re.MULTILINE), names)
    return names


def tables(names: dict) -> dict:
    "Name of the table to its rows."
    return {name: rows for name, rows in names.items() if isinstance(rows, list) and rows and isinstance(rows[0], tuple)}


if __name__ == "__main__":
    import numpy
    import tensorflow
    names = page(tensorflow, numpy)
    for table, rows in tables(names).items():
        for expression, inputs, theirs, _, _ in rows:
            answer = names["ask"](expression, inputs)
            if not names["agree"](answer, theirs): print(table, expression, inputs, "recorded", theirs, "now", answer, sep="\n    ")
    print(tensorflow.__version__, sum(map(len, tables(names).values())), "rows asked")

"""Run a notebook as a reader would: in a fresh kernel, alone, from top to bottom."""
import os
import re
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from traitlets.config import Config

ROOT = Path(__file__).resolve().parent.parent
ENCRYPTED = Config(KernelManager={"transport_encryption": "auto"})   # else the kernel prints a warning about its own sockets
FAILURES = CellExecutionError, CellTimeoutError, DeadKernelError


def directives(source):
    "The nbdev directives of a cell: `#| eval: false` is {'eval': 'false'}."
    found = re.findall(r"^#\|\s*([\w-]+):?[ \t]*(.*?)[ \t]*$", source, re.M)
    return dict(found)


def is_run(cell):
    "Whether a cell is meant to be executed."
    return cell.cell_type == "code" and directives(cell.source).get("eval") != "false"


def notebooks(root=ROOT):
    "Paths of all notebooks, in reading order."
    return [p for p in sorted((root / "nbs").rglob("*.ipynb")) if ".ipynb_checkpoints" not in p.parts]


class Runner(NotebookClient):
    "Executes a notebook and calls `on_text(text)` for everything that it prints, while it is printed."
    def __init__(self, nb, cwd, on_text=lambda text: None, **options):
        options = {"kernel_name": "python3", "coalesce_streams": True, "config": ENCRYPTED, **options}
        super().__init__(nb, resources={"metadata": {"path": str(cwd)}}, **options)
        self.on_text = on_text

    async def async_execute_cell(self, cell, cell_index, **options):
        return await super().async_execute_cell(cell, cell_index, **options) if is_run(cell) else cell

    def output(self, outs, msg, display_id, cell_index):
        if msg["msg_type"] == "stream": self.on_text(msg["content"]["text"])
        return super().output(outs, msg, display_id, cell_index)


def fresh(path):
    "The notebook without outputs."
    nb = nbformat.read(path, 4)
    for cell in nb.cells:
        if cell.cell_type == "code": cell.outputs, cell.execution_count = [], None
    return nb


def offline_environment(folder):
    "Environment in which a notebook finds neither the network nor files that this user happens to have cached."
    nowhere = "http://127.0.0.1:9"
    proxies = {f"{scheme}_proxy": nowhere for scheme in ("http", "https", "HTTP", "HTTPS")}
    return {**os.environ, **proxies, "no_proxy": "", "KERAS_HOME": str(folder)}


def text_outputs(cell):
    "What a cell shows as text: (kind, text) pairs, with adjoining pieces of one stream joined, and without the addresses of objects."
    shown = []
    for out in cell.outputs:
        kind = out.get("name", out.output_type)
        if out.output_type == "stream": text = out.text
        elif out.output_type == "error": text = f"{out.ename}: {out.evalue}"
        else: text = out.data.get("text/plain", "")
        if shown and out.output_type == "stream" and shown[-1][0] == kind: shown[-1] = kind, shown[-1][1] + text
        else: shown.append((kind, text))
    return [(kind, re.sub(r" at 0x[0-9a-f]+", "", text)) for kind, text in shown]

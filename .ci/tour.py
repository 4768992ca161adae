"""Execute the tour with live progress, print the figures that it reached, and write the page as one HTML file.

usage: tour.py [NOTEBOOK] [OUTPUT]

A line "figure: test accuracy 0.957" that the notebook prints is repeated at the end.
"""
import re
import sys
import tempfile
import time

from nbconvert.filters import strip_ansi
from page import write_page
from runner import FAILURES, ROOT, Runner, fresh, is_run, text_outputs


def title(cells, index):
    "What a cell is about: the nearest heading above it."
    headings = (re.match(r"#+\s+(.*)", cell.source) for cell in reversed(cells[:index]) if cell.cell_type == "markdown")
    return next((h[1] for h in headings if h), "start")


class Progress:
    "Prints a line for each cell, and what the cell prints, indented, while it runs."
    def __init__(self, cells):
        self.cells, self.steps = cells, [i for i, cell in enumerate(cells) if is_run(cell)]
        self.last, self.at_start = None, True

    def start(self, cell, cell_index):
        self.began = time.perf_counter()
        if cell_index not in self.steps: return
        done, about = self.steps.index(cell_index) + 1, title(self.cells, cell_index)
        if about != self.last: print(f"[{done:2d}/{len(self.steps)}] {about}", flush=True)
        self.last, self.at_start = about, True

    def text(self, text):
        for piece in re.split(r"(?<=[\n\r])", text):
            if piece: print(("    " if self.at_start else "") + piece, end="", flush=True)
            self.at_start = piece.endswith(("\n", "\r")) if piece else self.at_start

    def end(self, cell, cell_index, **_):
        if not self.at_start: print()
        self.at_start = True
        seconds = time.perf_counter() - self.began
        if seconds >= 1: print(f"    ({seconds:.0f} s)", flush=True)


def main(source="nbs/00_tour.ipynb", target="build/tour.html"):
    began, nb, target = time.perf_counter(), fresh(ROOT / source), ROOT / target
    progress = Progress(nb.cells)
    with tempfile.TemporaryDirectory() as folder:
        run = Runner(nb, folder, progress.text, on_cell_start=progress.start, on_cell_executed=progress.end)
        try: run.execute()
        except FAILURES as error:
            message = str(error) if sys.stderr.isatty() else strip_ansi(str(error))
            print(f"\nThe tour stopped in the section {progress.last!r}:\n\n{message}", file=sys.stderr)
            return 1
    target.parent.mkdir(parents=True, exist_ok=True)
    write_page(nb, target)
    shown = "\n".join(text for cell in nb.cells if cell.cell_type == "code" for _, text in text_outputs(cell))
    print(f"\nFinished in {time.perf_counter() - began:.0f} s.")
    for line in re.findall(r"^figure: (.*)", shown, re.M): print(f"  {line}")
    print(f"The page, with every picture: {target.relative_to(ROOT)}")
    return 0


if __name__ == "__main__": sys.exit(main(*sys.argv[1:]))

"""From a notebook to a page: nbdev's processors, then what Sphinx needs."""
import ast
import re
from functools import cached_property
from importlib import import_module
from pathlib import Path

from execnb.nbio import mk_cell, nb2str
from nbdev import processors
from nbdev.doclinks import NbdevLookup
from nbdev.process import NBProcessor
from objects import parameters, public

GROUPS = {"": "Start here", "0_story": "The story", "1_core": "Core", "2_ops": "Operations", "3_autodiff": "Automatic differentiation",
          "4_kernels": "GPU kernels", "5_program": "Functions and graphs", "6_data": "Data", "7_distribute": "Many devices",
          "8_keras": "Keras", "9_tools": "Tools", "X_projects": "Projects"}
# Long groups are split in the side bar. Name of a part -> title, what it is about, numbers of its notebooks.
PARTS = {"2_ops": {
    "numbers": ("Numbers, one by one", "Functions of one number or two, elementwise.", "200-207 209"),
    "axes": ("Along an axis", "Sums, extremes, running totals, order, segments.", "208 210 211 221 223 239"),
    "places": ("Shapes and places", "Making arrays, cutting them, looking up, writing back.", "212 213 215 217-220 222 224"),
    "algebra": ("Linear algebra", "Products, solutions, decompositions.", "225-227 231-234 236 237"),
    "random": ("Random numbers", "From a key and a counter to samples.", "238 240-245"),
    "layers": ("Layers and losses", "Activations, convolutions, pooling, normalisation, parts of losses.", "229 230 235 246-259 272 277"),
    "images": ("Images", "Geometry, size and colour of pictures.", "260-265"),
    "signals": ("Signals", "Fourier transforms, windows, frames, sound.", "266-271"),
    "composite": ("Sparse, ragged and more", "Tensors made of tensors.", "228 273-276 278-284"),
    "files": ("Files and records", "What is on disk, and how it becomes tensors.", "285-292"),
    "checks": ("Checks, devices, tests", "What guards a program and what measures it.", "214 216 293-299")},
    "4_kernels": {
    "first": ("First kernels", "Threads, memory, sums, transposes, matrix products: start here, a GPU is not needed.", "430-448"),
    "network": ("Kernels of a network", "Softmax, norms, losses, tables, optimizers, dropout, bytes.", "449-469"),
    "windows": ("Convolution and attention", "What a window or a query sees, without writing it all down.", "470-479"),
    "looking": ("Run, check, look", "A kernel in a cell, its report, its pictures, its numbers bit by bit.", "417-429"),
    "card": ("On a real card", "NVIDIA's compiler, kernels that Python writes, and the GPU as a device.", "480-499"),
    "simulator": ("How the simulator works", "From CUDA C to C++, from threads to fibers, from memory to a diary of it.", "400-416")}}
LAB = "http://localhost:8888/lab/tree/nbs"   # where `make lab` serves the notebooks
EXPORTS = {"export", "exports", "exporti"}
NBDEV = [processors.populate_language, processors.strip_ansi, processors.hide_line, processors.filter_stream_, processors.rm_header_dash,
         processors.hide_, processors.strip_hidden_metadata]


def defined(cell) -> list[str]:
    "Names that a code cell defines at its top level."
    names = []
    for node in cell.parsed_() or []:
        if isinstance(node, ast.FunctionDef | ast.ClassDef): names.append(node.name)
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        names += [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return [n for n in names if not n.startswith("_")]


def label(module: str, name: str) -> str:
    "Where the definition of `name` is found. Labels know no case, so `UNUSUAL` and `unusual` must differ in more."
    return f"{module}.{name}" + ("-constant" if name.isupper() else "-class" if name[0].isupper() else "")


class Links(NbdevLookup):
    "nbdev's linking of back-ticked names, from a table of our own: a name -> where it is explained."
    def __init__(self, names: dict[str, str]): self.syms, self.aliases = names, {}

    def _link_sym(self, m): return m[0] if m.string[:m.start()].endswith("[") else super()._link_sym(m)

    def link_line(self, l): return l if l.startswith(("#", "<")) else super().link_line(l)


class Page:
    "A notebook, read and not changed."
    def __init__(self,
        path: Path,      # The notebook
        relative: Path,  # The same below the folder of all notebooks
    ):
        self.path, self.name = path, relative.with_suffix("").as_posix()
        self.group = relative.parent.as_posix().removeprefix(".")
        self.cells = NBProcessor(path).nb.cells   # directives taken out of the source
        first = next(c.source for c in self.cells if c.cell_type == "markdown")
        self.title = re.search(r"^# +(.*)$", first, re.M)[1].replace("`", "")
        self.lead = " ".join(re.findall(r"^> +(.*)$", first, re.M))
        self.module = next((c.directives_["default_exp"][0] for c in self.cells if "default_exp" in c.directives_), None)
        self.number = "".join(re.findall(r"^(\d+)_", relative.name))

    @cached_property
    def labels(self) -> dict[str, str]:
        "Exported name -> label of the cell that defines it."
        return {n: label(self.module, n) for c in self.cells if EXPORTS & {*c.directives_} for n in defined(c)}

    def imported(self, pages: list) -> dict[str, str]:
        "Names that this notebook imports from another one -> label of the cell that defines them there."
        labels = {f"tfedu.{p.module}": p.labels for p in pages}
        froms = [n for c in self.cells for n in c.parsed_() or [] if isinstance(n, ast.ImportFrom)]
        return {a.asname or a.name: labels[n.module][a.name] for n in froms for a in n.names if a.name in labels.get(n.module, {})}

    def notebook(self, pages: list, after: str = "") -> str:
        "The notebook that Sphinx reads: the page, with markdown `after` it."
        nb, fold = NBProcessor(self.path, procs=[*NBDEV, tag, unfold, picture], process=True).nb, False
        names = {name: f"#{name}" for name in public()} | {n: f"#{label}" for n, label in self.imported(pages).items()}
        prose, table = Links(names), Links(names | {n: f"#{label}" for n, label in self.labels.items()})
        cells = []
        for cell in nb.cells:
            if "default_exp" in cell.get("directives_", {}): continue
            if cell.cell_type == "markdown":
                if self.name == "index": cell.source = cell.source.replace("](nbs/", "](/")   # written for README.md
                fold = "**Exercise" in cell.source
                lines = prose.linkify(cell.source)
                cell.source = "\n".join(table.link_line(l) if l.startswith("|") else l for l in lines.split("\n"))
                if not any(c.cell_type == "markdown" for c in cells): cell.source = self.headed(cell.source)
            elif fold and "eval:" not in cell.directives_: folded(cell, "Solution, executed")
            if labels := [self.labels[n] for n in defined(cell) if EXPORTS & {*cell.get("directives_", {})}]:
                cells.append(mk_cell("\n".join(f"({label})=" for label in labels), "markdown"))
            cells.append(cell)
            if labels: cells += self.docments(cell)
        if after: cells.append(mk_cell(after, "markdown"))
        for i, cell in enumerate(cells): cell.id = f"{i:08x}"
        nb.cells = cells
        return nb2str(nb)

    def docments(self, cell) -> list:
        "The comments after the parameters of what an exported cell defines, as folded tables."
        found = {n: parameters(getattr(import_module(f"tfedu.{self.module}"), n)) for n in defined(cell)}
        fold = "<details class=docments>\n<summary>parameters of <code>{}</code></summary>\n\n{}\n\n</details>"
        return [mk_cell(fold.format(n, table), "markdown") for n, table in found.items() if table]

    def headed(self, source: str) -> str:
        "The first cell, with a line below title and lead that leads to the notebook itself."
        if self.name == "index": return source
        line = (f"{{download}}`{self.path.name} </_notebooks/{self.name}.ipynb>` · [open in JupyterLab]({LAB}/{self.name}.ipynb) "
                "while `make lab` runs" + (f" · exports `tfedu.{self.module}`" if self.module else ""))
        top = re.match(r"# .*\n+(> .*\n)*", source + "\n")[0]
        return f"{top}\n{{.notebook-line}}\n{line}\n\n{source[len(top):]}"


def tag(cell) -> None:
    "Classes and folds that directives ask for; the directives themselves go."
    if cell.cell_type != "code": return
    given, tags = cell.directives_, []
    if EXPORTS & {*given}: tags.append("exported")
    if given.get("echo:") == ["false"]: tags.append("remove-input")
    if given.get("output:") == ["false"]: tags.append("remove-output")
    cell.source = re.sub(r"^#\|.*\n?", "", cell.source, flags=re.M).strip("\n")
    cell.metadata["tags"] = tags
    body = cell.parsed_()
    if body and all(isinstance(n, ast.Import | ast.ImportFrom) for n in body): folded(cell, "Imports")
    if "code-fold:" in given: folded(cell, "Code")


def folded(cell, title: str) -> None:
    "Fold a code cell under `title`."
    cell.metadata["tags"] = [*cell.metadata["tags"], "hide-cell" if cell.outputs else "hide-input"]
    cell.metadata["mystnb"] = {"code_prompt_show": title, "code_prompt_hide": title}


def unfold(cell) -> None:
    "Markdown between <details> and </details> is read as markdown only after an empty line."
    if cell.cell_type != "markdown": return
    def summary(m):
        title = re.sub(r"`([^`]+)`", r"<code>\1</code>", m[2].strip())
        return f"\n{m[1]}\n<summary>{title}</summary>\n\n"
    source = re.sub(r"(<details[^>]*>)\s*<summary>(.*?)</summary>\s*", summary, cell.source, flags=re.S)
    cell.source = re.sub(r"\s*</details>", "\n\n</details>\n", source)


def picture(cell) -> None:
    "Put SVG into the page itself, so that it follows light and dark mode, in a box that scrolls when it is wide."
    for output in cell.get("outputs", []):
        data = output.get("data", {})
        svg = "".join(data.pop("image/svg+xml", "")) or "".join(data.get("text/html", ""))
        if "<svg" in svg:
            svg = re.sub(r"<\?xml.*?\?>|<!DOCTYPE.*?>", "", svg, flags=re.S)
            data["text/html"] = f'<div class="picture">{svg}</div>'


def numbers(spans: str) -> set[int]:
    "The numbers that spans like '200-202 209' stand for."
    return {n for span in spans.split() for first, _, last in [span.partition("-")] for n in range(int(first), int(last or first) + 1)}


def series(members: list[Page]) -> list[str]:
    "Notebooks as a list: number, title, lead."
    return ["{.series}", *(f"- [{p.number}]{{.number}} [{p.title}](/{p.name}.ipynb). {p.lead}" for p in members), ""]


def toctree(entries: list[str], caption: str = "") -> list[str]:
    "A hidden table of contents, which is what the side bar shows."
    return ["```{toctree}", ":hidden:", *([f":caption: {caption}"] if caption else []), "", *entries, "```", ""]


def split(pages: list[Page]) -> dict[str, list[Page]]:
    "Path of each part that has notebooks -> these. Raises ValueError for a notebook of a split group that is in no part."
    found = {f"{group}/{part}": [p for p in pages if p.group == group and int(p.number or -1) in numbers(spans)]
             for group, parts in PARTS.items() for part, (_, _, spans) in parts.items()}
    lost = [p.name for p in pages if p.group in PARTS and sum(p in members for members in found.values()) != 1]
    if lost: raise ValueError(f"docs: PARTS must name each of these once: {', '.join(lost)}")
    return {name: members for name, members in found.items() if members}


def part_pages(pages: list[Page]) -> dict[str, str]:
    "File name -> page of each part: what it is about, and its notebooks."
    texts = {}
    for name, members in split(pages).items():
        title, lead, _ = PARTS[members[0].group][name.split("/")[1]]
        entries = [f"{p.number} {p.title} </{p.name}>" for p in members]
        texts[f"{name}.md"] = "\n".join([f"# {title}", "", f"> {lead}", "", *series(members), *toctree(entries)])
    return texts


def home(front: Page, pages: list[Page]) -> str:
    "The home page: the notebook index.ipynb, the notebooks in order, and the hidden tables of contents of the side bar."
    groups = [g for g in GROUPS if any(p.group == g for p in pages)]
    lines, trees, parts = ["## The notebooks in order", ""], [], split(pages)
    for group in groups:
        members, inside = [p for p in pages if p.group == group], [name for name in parts if name.startswith(f"{group}/")]
        lines += [f"### {GROUPS[group]}", ""]
        for name in inside: lines += [f"#### [{PARTS[group][name.split('/')[1]][0]}](/{name}.md)", "", *series(parts[name])]
        if not inside: lines += series(members)
        trees += toctree(inside or [f"{p.number} {p.title} <{p.name}>".strip() for p in members], GROUPS[group])
    trees += toctree(["api/index"], "Reference")
    return front.notebook(pages, "\n".join(lines + trees))

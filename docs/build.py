"""Build the site from the executed notebooks: `python docs/build.py [notebooks out]`, then open build/docs/index.html."""
import sys
from pathlib import Path

from offline import outside
from pages import Page, home, part_pages
from reference import reference
from sphinx.cmd.build import build_main

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent


def write(path: Path, text: str) -> Path:
    "Write `text`, unless the file holds it already: Sphinx reads again only what is newer than its last build."
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text: path.write_text(text)
    return path


def sources(nbs: Path, source: Path) -> None:
    "Turn the notebooks below `nbs` into Sphinx's source folder `source`, and remove what an earlier build left there."
    paths = sorted(p for p in nbs.rglob("*.ipynb") if p.name != "index.ipynb" and ".ipynb_checkpoints" not in p.parts)
    pages = [Page(p, p.relative_to(nbs)) for p in paths]
    front = Page(nbs / "index.ipynb", Path("index.ipynb"))
    texts = {f"api/{name}.md": text for name, text in reference(pages).items()}
    texts |= {f"{page.name}.ipynb": page.notebook(pages) for page in pages}
    texts |= part_pages(pages)
    texts |= {f"_notebooks/{page.name}.ipynb": page.path.read_text() for page in pages}   # the originals, to download
    texts["index.ipynb"] = home(front, pages)
    wanted = {write(source / name, text) for name, text in texts.items()}
    for old in source.rglob("*.*"):
        if old.is_file() and old not in wanted: old.unlink()


def build(
    nbs: Path,  # Folder of the notebooks
    out: Path,  # Folder in which `docs` becomes the site
) -> int:       # Exit status: not 0 after a warning, or if a page needs another machine
    "Build the site. Only what changed since the last time is read again."
    source, site = out / "docs-src", out / "docs"
    sources(nbs, source)
    options = ["-q", "-W", "--keep-going", "-n", "-j", "auto", "-c", str(DOCS), "-d", str(out / "docs-trees")]
    status = build_main(["-b", "html", *options, str(source), str(site)])
    for problem in (problems := outside(site)): print(problem, file=sys.stderr)
    return status or bool(problems)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))   # the reference imports the package that lies beside this folder
    nbs, out = map(Path, sys.argv[1:] or (ROOT / "nbs", ROOT / "build"))
    if status := build(nbs, out): sys.exit(status)
    print(f"The site is {out / 'docs/index.html'}")

"""The site: what becomes of a notebook, and that it needs no network. The docs folder's own build checks all real notebooks."""
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><title>a drawing</title></svg>'
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
FRONT = "# Home\n\n> The lead.\n\nRead `core.publish`, then [the story](nbs/0_story/000_story.ipynb)."
STORY = """# A story of `x`

> In one sentence.

Promise. The name `publish` comes from elsewhere, `shape` is nothing but a word.

<details><summary>Why `x`</summary>
Because of *stress* and $x^2$.
</details>"""


def code(source, *outputs): return {"cell_type": "code", "source": source, "outputs": [*outputs], "metadata": {}, "execution_count": None}
def text(source): return {"cell_type": "markdown", "source": source, "metadata": {}}
def shown(mime, data): return {"output_type": "display_data", "data": {mime: data}, "metadata": {}}


def notebook(path, *cells):
    path.parent.mkdir(parents=True, exist_ok=True)
    cells = [{"id": f"cell{i}", **cell} for i, cell in enumerate(cells)]
    path.write_text(json.dumps({"cells": cells, "metadata": {"kernelspec": KERNEL}, "nbformat": 4, "nbformat_minor": 5}))
    return path


def build(folder):
    command = [sys.executable, ROOT / "docs/build.py", folder / "nbs", folder / "out"]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs")
    notebook(folder / "nbs/index.ipynb", text(FRONT))
    publish = ROOT / "nbs/1_core/105_publish.ipynb"
    notebook(folder / "nbs/1_core/105_publish.ipynb", *json.loads(publish.read_text())["cells"])
    notebook(folder / "nbs/0_story/000_story.ipynb", text(STORY), code("#| export\nfrom tfedu.core.publish import publish"),
             code("#| hide\nhidden_name = 1"), code("#| echo: false\nquiet_name", shown("image/svg+xml", SVG)),
             code("%%cuda f<<<1, 32>>>(x)\n__global__ void f(float *x) {}"), text("**Exercise 0.1 (recall).** Do it."),
             code("#| eval: false\nstub = ..."), code("solved = 1"))
    result = build(folder)
    assert result.returncode == 0, result.stderr
    return folder


def page(site, name): return (site / "out/docs" / f"{name}.html").read_text()


def test_a_page_shows_what_a_reader_needs_and_no_directives(site):
    html = page(site, "0_story/000_story")
    assert "hidden_name" not in html and "quiet_name" not in html and "#|" not in html
    assert SVG in html                                                        # in the page itself, so it follows dark mode
    assert re.search(r"<summary>Why <code>x</code></summary>\s*<p>Because of <em>stress</em>", html)
    assert html.count("Solution, executed") and html.index("stub") < html.index("Solution, executed") < html.index("solved")
    assert "%%" in html and ">cuda<" in html                                                   # what a cell begins with belongs to it


def test_names_are_linked_where_they_are_defined(site):
    html = page(site, "0_story/000_story")
    assert re.search(r'href="\.\./1_core/105_publish\.html#core-publish-publish"><span[^>]*><code[^>]*><span[^>]*>publish<', html)
    assert not re.search(r"<a [^>]*>(<span[^>]*>)*<code[^>]*><span[^>]*>shape<", html)


def test_exported_cells_are_marked_and_their_parameters_tabled(site):
    html = page(site, "1_core/105_publish")
    assert re.search(r'class="cell tag_exported[^"]*" id="core-publish-publish"', html)
    assert re.search(r"parameters of <code>publish_value</code>.*?<table.*?Public name, starting with", html, re.S)


def test_the_home_page_lists_the_series_in_order(site):
    before, _, html = page(site, "index").partition("The notebooks in order")
    assert re.search(r'href="0_story/000_story.html"><span[^>]*>the story', before)   # in README.md, the link leads to nbs/
    assert html.index("The story") < html.index("0_story/000_story.html") < html.index("Core") < html.index("1_core/105_publish.html")


def test_the_notebook_itself_can_be_downloaded(site):
    [copy] = (site / "out/docs/_downloads").rglob("000_story.ipynb")
    assert copy.read_text() == (site / "nbs/0_story/000_story.ipynb").read_text()


def test_mathematics_and_search_are_in_the_site(site):
    html = page(site, "0_story/000_story")
    assert re.search(r'<script[^>]* src="\.\./_static/tex-svg\.js', html) and (site / "out/docs/_static/tex-svg.js").exists()
    assert "publish" in (site / "out/docs/searchindex.js").read_text()


def test_the_notebooks_are_only_read(site):
    assert sorted(p.name for p in (site / "nbs").rglob("*") if p.is_file()) == ["000_story.ipynb", "105_publish.ipynb", "index.ipynb"]


def test_a_link_that_leads_nowhere_fails_the_build(tmp_path):
    notebook(tmp_path / "nbs/index.ipynb", text("# Home\n\n[lost](#no-such-place)"))
    notebook(tmp_path / "nbs/1_core/105_publish.ipynb", text("# Names"))
    result = build(tmp_path)
    assert result.returncode != 0 and "no-such-place" in result.stderr


def test_comments_after_parameters_become_a_table(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs")
    from objects import parameters, signature
    def scale(
        x,                         # Array `(n,)`
        by: "int | float" = 2.0,   # Factor
    ):                             # Array `(n,)`
        return x * by
    assert signature(scale) == "(x, by=2.0)"
    rows = ["| `x` |  | Array `(n,)` |", r"| `by` | `int \| float` | Factor |", "| *returns* |  | Array `(n,)` |"]
    assert parameters(scale).splitlines()[3:] == rows
    assert parameters(lambda x: x) == "" and parameters(3) == ""
    def guessed(
        axis=None,  # Any
    ): return axis
    assert parameters(guessed).splitlines()[1:] == ["| parameter | meaning |", "| --- | --- |", "| `axis` | Any |"]   # no NoneType


def test_an_entry_does_not_name_itself_twice(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs")
    from pages import Links
    from reference import described
    def double(x): "Twice `x`. `tf.double` `tf.math.double`"
    assert described(double, Links({}), ["tf.math.double", "tf.double"]) == "Twice `x`."
    assert described(double, Links({})).endswith("`tf.math.double`")


def test_a_cell_defines_only_what_it_binds(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(ROOT / "docs")
    from pages import Page
    path = notebook(tmp_path / "100_x.ipynb", text("# X"), code("#| default_exp core.x"), code("#| export\nclass Rows: pass"),
                    code("#| export\nKINDS = {}\nKINDS[Rows] = Rows.kind = 1"))
    assert Page(path, Path("1_core/100_x.ipynb")).labels == {"Rows": "core.x.Rows-class", "KINDS": "core.x.KINDS-constant"}


@pytest.mark.parametrize("html", ['<script src="https://a.b/c.js">', '<link rel="stylesheet" href="//a.b/c.css">', '<img alt="x" src="http://a.b/c.png">',
                                  "<style>@import 'https://a.b/c.css'</style>", "<style>p { background: url(https://a.b/c.png) }</style>"])
def test_what_a_browser_would_fetch_from_elsewhere_is_found(html, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs")
    from offline import outside
    (tmp_path / "page.html").write_text(html)
    assert len(outside(tmp_path)) == 1
    (tmp_path / "page.html").write_text('<a href="https://a.b/c">a link</a> <img src="c.png"> <script>x = "https://a.b"</script>')
    assert outside(tmp_path) == []


def test_long_groups_are_split_and_nothing_is_lost(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(ROOT / "docs")
    from pages import Page, numbers, part_pages, split
    assert numbers("200-202 209") == {200, 201, 202, 209}
    def page(name): return Page(notebook(tmp_path / name, text("# A title\n\n> A lead.")), Path(name))
    pages = [page("1_core/100_x.ipynb"), page("2_ops/200_y.ipynb"), page("2_ops/225_z.ipynb")]
    found = {name: [p.number for p in members] for name, members in split(pages).items()}
    assert found == {"2_ops/numbers": ["200"], "2_ops/algebra": ["225"]}
    assert "200 A title </2_ops/200_y>" in part_pages(pages)["2_ops/numbers.md"]
    with pytest.raises(ValueError, match="199_w"): split([*pages, page("2_ops/199_w.ipynb")])

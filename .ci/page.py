"""Write an executed notebook as one HTML file that needs nothing else: no network, no scripts, dark mode included."""
import html
import re
from pathlib import Path

from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from nbconvert.filters import ansi2html
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from runner import directives

STYLE = """
:root { color-scheme: light dark; --back: #fff; --front: #1c1e21; --quiet: #5d646d; --soft: #f5f6f7; --line: #dadde1; --link: #0b63c5 }
@media (prefers-color-scheme: dark) {
  :root { --back: #17191c; --front: #dfe2e6; --quiet: #9aa2ab; --soft: #212429; --line: #3a3f46; --link: #78b4ff }
}
body { background: var(--back); color: var(--front); font: 17px/1.6 system-ui, sans-serif; max-width: 54rem; margin: 2.5rem auto 5rem;
       padding: 0 1.2rem; overflow-wrap: break-word }
p, li, blockquote { max-width: 46rem } a { color: var(--link) }
h1, h2, h3 { line-height: 1.25; letter-spacing: -.01em; text-wrap: balance } h1 { font-size: 2.1rem; margin-bottom: .5rem }
h2 { font-size: 1.45rem; margin: 3rem 0 .6rem }
h1 + blockquote { margin: 0 0 1.5rem; padding: 0; border: 0; font-size: 1.15em; color: var(--quiet) }
pre, code { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: .82em; line-height: 1.5 }
code { overflow-wrap: anywhere } pre code { font-size: 1em }
:not(pre) > code { background: var(--soft); padding: .1em .3em; border-radius: 3px }
.code pre { background: var(--soft); border: 1px solid var(--line); border-radius: 6px; padding: .7rem .9rem; margin: 1rem 0 .6rem;
            overflow-x: auto }
.output { margin: .6rem 0 1.2rem; overflow-x: auto } .output pre { margin: 0; padding-left: .9rem; border-left: 3px solid var(--line) }
.output svg, .output img { display: block; max-width: 100%; height: auto } .output img { background: #fff; border-radius: 4px }
blockquote { margin: 1rem 0; padding-left: 1rem; border-left: 3px solid var(--line) }
table { border-collapse: collapse; display: block; overflow-x: auto; font-size: .95em }
th, td { border-bottom: 1px solid var(--line); padding: .45rem 1.2rem .45rem 0; text-align: left; vertical-align: top }
th { color: var(--quiet) } td code { white-space: nowrap }
details { border: 1px solid var(--line); border-radius: 6px; padding: .5rem .9rem; margin: 1rem 0 }
@media (max-width: 40rem) {
  body { font-size: 16px; margin-top: 1.2rem } h1 { font-size: 1.7rem } h2 { font-size: 1.3rem; margin-top: 2.4rem }
}
"""


class Renderer(IPythonRenderer):
    """Markdown to HTML with formulas as MathML, which browsers draw by themselves. The page may be taken anywhere, so that it names
    other notebooks instead of linking to them."""
    def formula(self, body, block):
        try: return tex2mathml(body.strip(), as_block=block)
        except MathError: return f"<code>{html.escape(body)}</code>"

    def inline_math(self, body): return self.formula(body, False)
    def block_math(self, body): return self.formula(body, True)

    def link(self, text, url, title=None):
        if not url.endswith(".ipynb") or "://" in url: return super().link(text, url, title)
        return f"{text} <code>nbs/{html.escape(url)}</code>"


def markdown(source):
    return MarkdownWithMath(renderer=Renderer(escape=False, exclude_anchor_links=True)).render(source)


def output(out):
    "The richest form of one output that a page can show."
    if out.output_type == "stream": return f"<pre>{ansi2html(out.text)}</pre>"
    if out.output_type == "error": return f"<pre>{ansi2html(chr(10).join(out.traceback))}</pre>"
    data = out.data
    if "text/html" in data: return data["text/html"]
    if "image/svg+xml" in data: return data["image/svg+xml"]
    if "image/png" in data: return f'<img alt="" src="data:image/png;base64,{data["image/png"]}">'
    if "text/markdown" in data: return markdown(data["text/markdown"])
    return f"<pre>{ansi2html(data.get('text/plain', ''))}</pre>"


def code(cell):
    "A code cell without its directives, and what it showed."
    flags = directives(cell.source)
    if {"hide", "default_exp"} & flags.keys(): return ""
    source = re.sub(r"^#\|.*\n?", "", cell.source, flags=re.M).strip()
    shown = "".join(f'<div class="output">{output(out)}</div>' for out in cell.outputs)
    if flags.get("echo") == "false" or not source: return shown
    return f'<div class="code">{highlight(source, PythonLexer(), HtmlFormatter())}</div>{shown}'


def write_page(
    nb,            # Executed notebook
    target: Path,  # File to write
):
    "Write `nb` as one HTML file."
    body = "\n".join(code(cell) if cell.cell_type == "code" else markdown(cell.source) for cell in nb.cells)
    name = re.search(r"^# (.*)", "\n".join(c.source for c in nb.cells if c.cell_type == "markdown"), re.M)
    light = HtmlFormatter(style="default").get_style_defs(".code")
    dark = HtmlFormatter(style="github-dark").get_style_defs(".code")
    colours = re.sub(r"^\.code \{[^}]*\}\n?", "", light, flags=re.M), re.sub(r"^\.code \{[^}]*\}\n?", "", dark, flags=re.M)
    target.write_text(f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(name[1]) if name else "tfedu"}</title>
<style>{STYLE}{colours[0]}
@media (prefers-color-scheme: dark) {{ {colours[1]} }}</style></head>
<body>{body}</body></html>
""", encoding="utf-8")

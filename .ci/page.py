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
:root { color-scheme: light dark; --back: #fff; --front: #1c1e21; --soft: #f5f6f7; --line: #dadde1; --link: #0b63c5 }
@media (prefers-color-scheme: dark) {
  :root { --back: #17191c; --front: #dfe2e6; --soft: #212429; --line: #3a3f46; --link: #78b4ff }
  .output svg, .output img { background: #fff; border-radius: 4px }
}
body { background: var(--back); color: var(--front); font: 17px/1.6 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto;
       padding: 0 1rem; overflow-wrap: break-word }
a { color: var(--link) } h1, h2, h3 { line-height: 1.25 } h2 { margin-top: 2.5rem }
pre, code { font-family: ui-monospace, Menlo, Consolas, monospace; font-size: .9em }
:not(pre) > code { background: var(--soft); padding: .1em .3em; border-radius: 3px }
.code pre { background: var(--soft); border: 1px solid var(--line); border-radius: 6px; padding: .7rem .9rem; overflow-x: auto }
.output { margin: 0 0 1rem; padding-left: .9rem; border-left: 3px solid var(--line); overflow-x: auto }
.output pre { margin: 0 } .output svg, .output img { max-width: 100%; height: auto }
blockquote { margin: 1rem 0; padding-left: 1rem; border-left: 3px solid var(--line) }
table { border-collapse: collapse; display: block; overflow-x: auto } th, td { border: 1px solid var(--line); padding: .3rem .6rem }
details { border: 1px solid var(--line); border-radius: 6px; padding: .5rem .9rem; margin: 1rem 0 }
"""


class Renderer(IPythonRenderer):
    "Markdown to HTML with formulas as MathML, which browsers draw by themselves."
    def formula(self, body, block):
        try: return tex2mathml(body.strip(), as_block=block)
        except MathError: return f"<code>{html.escape(body)}</code>"

    def inline_math(self, body): return self.formula(body, False)
    def block_math(self, body): return self.formula(body, True)


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

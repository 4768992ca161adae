"""Sphinx reads this file; `build.py` calls Sphinx."""
from configparser import ConfigParser
from importlib.metadata import files
from pathlib import Path

settings = ConfigParser()
settings.read(Path(__file__).resolve().parent.parent / "settings.ini")
project, version = settings["DEFAULT"]["title"], settings["DEFAULT"]["version"]
copyright = settings["DEFAULT"]["copyright"]

extensions = ["myst_nb", "sphinx_copybutton"]
exclude_patterns = ["_notebooks"]
nb_execution_mode = "off"           # the notebooks carry their outputs
nb_merge_streams = True
myst_enable_extensions = ["amsmath", "attrs_block", "attrs_inline", "dollarmath"]
myst_heading_anchors = 3
myst_links_external_new_tab = True
nitpick_ignore_regex = [("py:.*", r"(?!tf\.).*")]   # bases and annotations from elsewhere have no entry here
python_maximum_signature_line_length = 78
toc_object_entries_show_parents = "hide"
add_module_names = False

# One file holds the whole of MathJax, its letters included as outlines, so that it needs no fonts.
[mathjax] = [f.locate() for f in files("sphinx-mathjax-offline") if f.name == "tex-svg.js"]
mathjax_path = mathjax.name
mathjax3_config = {"options": {"enableMenu": False}, "svg": {"fontCache": "global"}}

html_theme = "furo"
html_title = project
html_static_path = ["_static", str(mathjax)]
html_css_files = ["tfedu.css"]
html_copy_source = False
pygments_style, pygments_dark_style = "friendly", "github-dark"
copybutton_selector = ":not(.output) > div.highlight pre"


def colours(brand: str, name: str) -> dict[str, str]:
    "Furo's variables for links and for names in the reference."
    links = dict.fromkeys(["color-brand-primary", "color-brand-content", "color-brand-visited", "color-api-pre-name"], brand)
    return links | {"color-api-name": name}


html_theme_options = {
    "navigation_with_keys": True,
    "light_css_variables": colours("#0f6688", "#10242c"),
    "dark_css_variables": colours("#7cc7e2", "#e6eef2"),
}

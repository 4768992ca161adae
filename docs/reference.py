"""The API reference: one entry for each public name, grouped by namespace."""
import inspect
import re
from importlib import import_module

from objects import Shown, parameters, public, signature, value
from pages import Links, Page


def described(item, links: Links, names=()) -> str:
    "The docstring with its names and addresses linked, without those of the item's own `names` that end it."
    own = (getattr(item, "__doc__", None) or "")[:]   # the line alone: its parameters get a table
    text = inspect.cleandoc(own) if own else inspect.getdoc(item) or ""
    while ends := [n for n in names if text.endswith(f" `{n}`")]: text = text.removesuffix(f" `{ends[0]}`")
    text = links.linkify(text)
    text = re.sub(r"https://www\.tensorflow\.org\S*[^\s.,;)]", r"[TensorFlow's page](\g<0>)", text)
    return re.sub(r"(?<![<(])https?://\S*[^\s.,;)]", r"<\g<0>>", text)


def section(page: Page, attr: str) -> str:
    "A link to the cell that defines `attr`, or to its page."
    where = f"#{page.labels[attr]}" if attr in page.labels else f"/{page.name}.ipynb"
    return f"[{page.number} {page.title}]({where})"


def shapes(item) -> str:
    "The shape rule of an op, if `item` is one and has one."
    op = getattr(item, "op", None)
    if getattr(op, "elementwise", False): return "Elementwise, with broadcasting."
    return f"Shapes `{op.shape.text}`." if getattr(op, "shape", None) else ""


def kind(item) -> str:
    if inspect.isclass(item): return "exception" if issubclass(item, BaseException) else "class"
    return "function" if callable(item) else "data"


def members(cls, links: Links) -> list[str]:
    "Entries of the public methods and properties that the class itself defines."
    lines = []
    for name, found in vars(cls).items():
        item, bound = getattr(found, "__func__", found), not isinstance(found, staticmethod)
        if name.startswith("_") or not getattr(item, "__doc__", None): continue
        if isinstance(item, property): lines += [f"````{{py:property}} {name}", ""]
        elif inspect.isfunction(item): lines += [f"````{{py:method}} {name}{signature(item, bound)}", ""]
        else: continue
        lines += [described(item, links), "", parameters(item), "````", ""]
    return lines


def entry(name: str, names: list[str], pages: dict[str, Page], links: Links) -> str:
    "The entry of `name`, which is one of the public `names` of the same thing; the first of them has the full text."
    item, (module, attr) = value(name), public()[name]
    what = kind(item)
    lines = [f"`````{{py:{what}}} {name}" + (signature(item) if what != "data" else ""), ""]
    if name != names[0]: return "\n".join([*lines, f"The same as [`{names[0]}`](#{names[0]}).", "`````", ""])
    if what != "data": lines += [described(item, links, names), "", shapes(item), "", parameters(item), ""]
    page = pages.get(module.removeprefix("tfedu."))
    where = section(page, attr) if page else f"`{module}`"
    also = "".join(f" · also [`{n}`](#{n})" for n in names[1:])
    lines += ["{.defined}", (f"`{Shown(item)!r}`, defined" if what == "data" else "Defined") + f" in {where}{also}", ""]
    return "\n".join([*lines, *(members(item, links) if inspect.isclass(item) else []), "`````", ""])


def reference(
    pages: list[Page],  # All notebooks
) -> dict[str, str]:    # Name of a page -> its text in MyST markdown
    "The pages of the reference: one for each namespace, and an index of all names."
    by_module = {p.module: p for p in pages if p.module}
    for module in by_module: import_module(f"tfedu.{module}")
    same, spaces = {}, {}
    for name, where in public().items(): same.setdefault(where, []).append(name)
    for name in sorted(public(), key=lambda n: (kind(value(n)) == "data", n.lower(), n)):   # constants last
        spaces.setdefault(name.rpartition(".")[0], []).append(name)
    links = Links({name: f"#{name}" for name in public()})
    texts, index = {}, ["# Public names", "", "Every name that `import tfedu as tf` gives, by namespace.", ""]
    for space, names in sorted(spaces.items()):
        entries = [entry(name, same[public()[name]], by_module, links) for name in names]
        texts[space] = "\n".join([f"# {space}", "", *entries])
        index += [f"## [{space}](/api/{space}.md)", "", "{.names}", " ".join(f"[`{n.rpartition('.')[2]}`](#{n})" for n in names), ""]
    texts["index"] = "\n".join([*index, "```{toctree}", ":hidden:", "", *sorted(spaces), "```"])
    return texts

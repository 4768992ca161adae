"""What the package says about its own definitions: public names, signatures, comments after parameters."""
import inspect
import re
from importlib import import_module

from fastcore.docments import docments


def public() -> dict[str, tuple[str, str]]:
    "Public name -> (module, attribute), as the definitions that have been imported declare them."
    from tfedu.core.publish import PUBLIC
    return PUBLIC


def value(name: str) -> object:
    "What a public name stands for."
    module, attr = public()[name]
    return getattr(import_module(module), attr)


class Shown:
    "A default or type in a signature, written without quotes or addresses."
    def __init__(self, item): self.item = item

    def __repr__(self):
        text = repr(self.item)
        return getattr(self.item, "__name__", type(self.item).__name__) if " at 0x" in text else text


def signature(
    item,                # A function or class
    bound: bool = False,  # Leave the first parameter out: `item` is a method
) -> str:
    "Parameters and defaults, without types: those stand in the table below."
    try: found = inspect.signature(item)
    except (TypeError, ValueError): return "(...)"
    empty = inspect.Parameter.empty
    short = [p.replace(annotation=empty, default=p.default if p.default is empty else Shown(p.default)) for p in found.parameters.values()]
    return str(found.replace(parameters=short[bound:], return_annotation=empty))


def type_text(annotation) -> str:
    "A type as it was written, without the modules that it comes from."
    if annotation is inspect.Parameter.empty: return ""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return "`" + re.sub(r"\b\w+\.(?=\w)", "", text).replace("|", r"\|") + "`"


def returned(item) -> str | None:
    "The comment after the closing bracket of a signature without `->`, which docments leaves out."
    comment = None if inspect.isclass(item) else re.search(r"^\s*\):\s*# (.*)$", inspect.getsource(item), re.M)
    return comment and comment[1]


def parameters(item) -> str:
    "The comments after the parameters as a table, or nothing if there are none."
    if not callable(item): return ""
    found = {k: v for k, v in docments(item, full=True).items() if k not in {"self", "cls"}}
    if not any(v["docment"] for v in found.values()): return ""
    found["return"]["docment"] = found["return"]["docment"] or returned(item)
    given = inspect.signature(item).parameters
    for name, about in found.items():   # docments guesses the type from the default where there is none
        if name in given and given[name].annotation is inspect.Parameter.empty: about["anno"] = inspect.Parameter.empty
    found = {k: v for k, v in found.items() if v["docment"] or k not in {"return", "name"}}
    rows = []
    for name, about in found.items():
        label = "*returns*" if name == "return" else f"`{name}`"
        rows.append([label, type_text(about["anno"]), (about["docment"] or "").replace("\n", " ").replace("|", r"\|")])
    columns = ["parameter", "type", "meaning"]
    if not any(row[1] for row in rows): columns, rows = columns[::2], [row[::2] for row in rows]
    return "\n".join(["{.parameters}", *(f"| {' | '.join(row)} |" for row in [columns, ["---"] * len(columns), *rows])])

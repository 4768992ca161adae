"""The site is read without a network: nothing that a browser loads by itself may lie on another machine."""
import re
from pathlib import Path

TAGS = re.compile(r"<(script|link|img|iframe|source|video|audio|object|embed)\b[^>]*?\b(?:src|href|srcset|data)\s*=\s*[\"']?"
                  r"((?:https?:)?//[^\"'\s>]+)", re.IGNORECASE)
STYLES = re.compile(r"(url\(|@import)\s*[\"']?((?:https?:)?//[^\"'\s)]+)")


def outside(
    site: Path,  # Folder of a built site
) -> list[str]:  # One line for each reference to another machine
    "Find the scripts, styles, fonts and pictures that a page of `site` would fetch from elsewhere."
    found = []
    for path in sorted(p for p in site.rglob("*") if p.suffix in {".html", ".css", ".svg"}):
        text = path.read_text()
        found += [f"{path}: {kind} from {url}" for pattern in (TAGS, STYLES) for kind, url in pattern.findall(text)]
    return found

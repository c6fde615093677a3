"""report.html and index.html: a report or an overview with its figures as one self-contained page.

A page needs no network and nothing beside it. It reads without scripts; page.js sorts and filters its tables and
enlarges its figures.
"""

import base64
import hashlib
import html
import os
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

from ..display import one_line
from ..files import read_below, together
from .markup import PAGES, Body

GENERATOR = '<meta name="generator" content="ratecheck">'


def write_html(folder) -> Path:
    """Write report.html from the report.md and the figures in a folder."""
    folder = Path(folder)
    with together(folder) as drafts:
        drafts.write("report.html", _page(folder, "report.md"))
    return folder / "report.html"


def write_pages(root) -> list[Path]:
    """Write index.html from the README.md of the folder that holds the studies, and a page beside every report.md.

    Reports lie one or two folders deep, as those of a ledger's experiments do; folders that are links are left out.
    Links between them lead from page to page. All pages are new, or all of the old ones stay.
    """
    root = Path(root)
    sources = [root / "README.md", *sorted([*root.glob("*/report.md"), *root.glob("*/*/report.md")])]
    inside = {path: [p for p in (path, *path.parents) if p != root and p.is_relative_to(root)] for path in sources}
    sources = [path for path in sources if not any(place.is_symlink() for place in inside[path])]
    pages = {path: path.with_name(PAGES[path.name]) for path in sources}
    for page in pages.values():  # nobody named these folders one by one: a page that somebody else put there stays
        with suppress(FileNotFoundError):
            if GENERATOR.encode() not in read_below(root, page.relative_to(root))[:1000]:
                raise FileExistsError(f"{page} was not written by this ratecheck; move it away")
    with together(root) as drafts:
        for source, page in pages.items():
            drafts.write(page.relative_to(root), _page(source.parent, source.name, root, pages.values()))
    return list(pages.values())


def _page(folder, name, root=None, pages=()) -> str:
    try:
        source = read_below(folder, name).decode("utf-8")
    except UnicodeDecodeError:
        raise ValueError(f"{folder / name} is no UTF-8 text; write it again") from None
    body = Body(source, folder, pages)
    style, script = (files(__package__).joinpath(part).read_text("utf-8") for part in ("page.css", "page.js"))
    policy = (
        f"default-src 'none'; img-src data:; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
    up = root and folder != root
    back = f'<p class="up"><a href="{_address(root / "index.html", folder)}">All studies</a></p>\n' if up else ""
    others = [page for page in pages if page.parent != root] if folder == root else []
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'{GENERATOR}\n<meta name="color-scheme" content="light dark">\n'
        f"<title>{_shown(body.title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f"{back}{body.head}{_contents(body.headings, others, folder)}{body.rest}"
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def _hash(text) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _contents(headings, others, folder) -> str:
    listed = [(f"h{level}", f"#{html.escape(id)}", text) for level, id, text in headings if level in (2, 3)]
    listed += [("page", _address(page, folder), page.parent.relative_to(folder).as_posix()) for page in others]
    lines = "\n".join(f'<li class="{kind}"><a href="{href}">{_shown(text)}</a></li>' for kind, href, text in listed)
    if len(listed) < 2:
        return ""
    return (
        f'<nav id="contents"><details open><summary>Contents</summary>\n<ol>\n{lines}\n</ol></details></nav>\n'
        '<a class="top" href="#contents">Contents</a>\n'
    )


def _address(page, folder) -> str:
    return html.escape(quote(os.fsencode(os.path.relpath(page, folder)), "/="))


def _shown(text) -> str:
    return html.escape(one_line(text))

"""report.html: report.md and its figures as one self-contained page, for people without a markdown viewer."""

from __future__ import annotations

import base64
import html
import re
from pathlib import Path
from urllib.parse import unquote

from function_zoo.files import read_below, write_whole

STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif; color: #1f2328; background: #fff;
  max-width: 1180px; margin: 0 auto; padding: 16px; overflow-wrap: break-word; }
h1, h2, h3 { line-height: 1.25; }
h2 { margin-top: 2em; border-bottom: 1px solid #d1d9e0; padding-bottom: .25em; }
img { max-width: 100%; height: auto; }
.box { overflow-x: auto; margin: 1em 0; }
table { border-collapse: collapse; font-size: 14px; }
th, td { border: 1px solid #d1d9e0; padding: 4px 9px; text-align: left; vertical-align: top; overflow-wrap: normal; }
tr:nth-child(even) td { background: #f6f8fa; }
pre { background: #f6f8fa; padding: 12px; overflow-x: auto; }
code { font-size: 90%; overflow-wrap: anywhere; }
ol, ul { padding-left: 2em; }
li { margin: .25em 0; }
.math { white-space: nowrap; font-family: "STIX Two Text", "Cambria Math", Georgia, serif; }
sup { line-height: 0; }
@media (max-width: 600px) { body { padding: 10px; font-size: 15px; } th, td { padding: 3px 6px; font-size: 13px; } }
"""
OURS = re.compile(r"figures/[\w.=-]+\.png")  # what figures.base names its files
PNG = b"\x89PNG\r\n\x1a\n"
SYMBOLS = {"ln": "ln", "ge": "≥", "le": "≤", "alpha": "α", "beta": "β", "mu": "μ", "cdot": "·"}


def write_html(folder) -> Path:
    """Write report.html from the report.md and the figures in a folder."""
    folder = Path(folder)
    source = read_below(folder, "report.md").decode("utf-8")
    title = re.search(r"^# (.*)$", source, re.MULTILINE)
    body = _renderer(folder).render(source)
    page = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(html.unescape(title.group(1))) if title else 'report'}</title>\n"
        f"<style>{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )
    return write_whole(folder / "report.html", page)


def _renderer(folder):
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    markdown.inline.ruler.before("escape", "math", _find_formula)
    markdown.add_render_rule(
        "math", lambda self, tokens, i, *_: f'<span class="math">{to_html(tokens[i].content)}</span>'
    )
    markdown.add_render_rule("table_open", lambda self, *_: '<div class="box"><table>\n')
    markdown.add_render_rule("table_close", lambda self, *_: "</table></div>\n")
    markdown.add_render_rule(
        "image", lambda self, tokens, i, options, env: _embedded(folder, tokens[i], self, options, env)
    )
    return markdown


def _find_formula(state, silent):
    """An inline rule: $...$ becomes a token of its own before anything in it is taken for markdown."""
    if state.src[state.pos] != "$":
        return False
    end = state.src.find("$", state.pos + 1, state.posMax)
    if end < 0:
        return False
    if not silent:
        state.push("math", "", 0).content = state.src[state.pos + 1 : end]
    state.pos = end + 1
    return True


def to_html(formula: str) -> str:
    r"""The subset of TeX that reports use: letters, numbers, \ln and Greek, ^{...} and _{...}."""
    text = html.escape(formula)
    text = re.sub(r"\\([A-Za-z]+) ?", _symbol, text)
    text = re.sub(r"(?<![A-Za-z&])([A-Za-z])(?![A-Za-z;])", r"<i>\1</i>", text)
    for mark, tag in (("^", "sup"), ("_", "sub")):
        group = re.compile(re.escape(mark) + r"(?:\{([^{}]*)\}|(<i>.</i>|.))")
        text = group.sub(lambda m, tag=tag: f"<{tag}>{m.group(1) or m.group(2)}</{tag}>", text)
    return text


def _symbol(match) -> str:
    name = match.group(1)
    if name not in SYMBOLS:
        raise ValueError(f"the formula \\{name} has no counterpart in HTML; add it to SYMBOLS in {__name__}")
    return SYMBOLS[name] + (" " if name == "ln" else "")


def _embedded(folder, token, renderer, options, env) -> str:
    """A picture that we drew; of any other file that an image names, only the text that stands for it."""
    words = html.escape(renderer.renderInlineAsText(token.children, options, env))
    name = unquote(token.attrs["src"])
    picture = _picture(folder, name) if OURS.fullmatch(name) else b""
    if not picture.startswith(PNG):
        return words
    return f'<img src="data:image/png;base64,{base64.b64encode(picture).decode("ascii")}" alt="{words}">'


def _picture(folder, name) -> bytes:
    try:
        return read_below(folder, name)
    except OSError:  # a link, or not there
        return b""

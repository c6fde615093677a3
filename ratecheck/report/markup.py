"""The body of a page: markdown as HTML, with anchors, verdicts that are marked and cells that know their column.

Formulas become MathML, which a browser draws without a script.
"""

import base64
import html
import os
import re
import struct
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote, unquote_to_bytes, urlsplit

from ..display import NOTHING
from ..files import read_below

OURS = re.compile(r"figures/[\w.=-]+\.png")  # what figures.base names its files
PNG = b"\x89PNG\r\n\x1a\n"
PAGES = {"report.md": "report.html", "README.md": "index.html"}
VERDICTS = ("CONSISTENT", "REFUTED", "INCONCLUSIVE", "CONFIRMED", "NOT TESTABLE")
LETTERS = {"C": "CONSISTENT", "R": "REFUTED", "?": "INCONCLUSIVE", "✓": "CONSISTENT", "✘": "REFUTED"}  # in narrow cells
MARK = re.compile(r"(?:(?<=[\s(])|^)[✔✓✘✗?–]\s$")  # a mark that the text has already; the page draws its own
WORD = re.compile(rf"\b({'|'.join(VERDICTS)})\b")
SHORT = "".join(LETTERS)
NUMBER = re.compile(r"^ (?=[\d(])")  # behind a mark
INTERVAL = re.compile(r"\[[-−+\d.,e ]+\]")
LETTER = re.compile(rf"(?<![^\s(/])([{SHORT}])(?=[\s)/,†]|$)")
LETTERED = re.compile(rf"(?!.*{WORD.pattern})\(?[{SHORT}](?:[\s)/,†]|$)")
NAMING = ("family", "cost", "d", "dim", "algorithm", "claim", "what", "what it says")  # what a row is about


class Body:
    """What a page shows of a markdown file: its title, the headings of its contents, and HTML."""

    def __init__(self, source: str, folder, pages=()):
        self.folder, self.pages = Path(folder), {os.path.normpath(page) for page in pages}
        markdown = self._parser()
        tokens = markdown.parse(source)
        self.headings = [
            (int(token.tag[1]), token.attrs.get("id", ""), _text(tokens[i + 1]))
            for i, token in enumerate(tokens)
            if token.type == "heading_open" and token.level == 0
        ]
        self.title = next((text for level, _, text in self.headings if level == 1), "report")
        start = next((i + 1 for i, t in enumerate(tokens) if t.type == "heading_close" and t.tag == "h1"), 0)
        render = lambda part: markdown.renderer.render(part, markdown.options, {})  # noqa: E731
        self.head, self.rest = render(tokens[:start]), render(tokens[start:])

    def _parser(self):
        from markdown_it import MarkdownIt
        from mdit_py_plugins.anchors import anchors_plugin
        from mdit_py_plugins.dollarmath import dollarmath_plugin

        markdown = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
        markdown.use(anchors_plugin, max_level=3)
        markdown.use(
            dollarmath_plugin, allow_labels=False, renderer=lambda tex, how: mathml(tex, how.get("display_mode", False))
        )
        markdown.core.ruler.push("dress", self._dress)
        markdown.add_render_rule("table_open", lambda self, *_: '<div class="box"><table>\n')
        markdown.add_render_rule("table_close", lambda self, *_: "</table></div>\n")
        markdown.add_render_rule("verdict", lambda self, tokens, i, *_: _badge(tokens[i]))
        markdown.add_render_rule(
            "image",
            lambda renderer, tokens, i, options, env: self._figure(
                tokens[i], renderer.renderInlineAsText(tokens[i].children, options, env)
            ),
        )
        return markdown

    def _dress(self, state):
        """A rule of the parser: what the page adds to paragraphs, lists and tables."""
        place, header, column = "", [], 0
        for i, token in enumerate(state.tokens):
            if token.type in ("heading_open", "th_open", "td_open", "paragraph_open"):
                place = token.tag
            if token.type == "table_open":
                header = []
            elif token.type == "tr_open":
                column = 0
            elif token.type == "th_open":
                token.attrs = {"scope": "col"}  # alignment comes as a style, which the page's policy forbids
                header.append(_text(state.tokens[i + 1]))
            elif token.type == "td_open":
                token.attrs = _cell(header, column, state.tokens[i + 1])
                column += 1
            elif token.type == "inline":
                self._relink(token.children)
                if place == "td":
                    token.children = _marked(token.children, LETTER if LETTERED.match(_text(token)) else WORD)
                    _hold_together(token.children)
                elif place == "p":
                    token.children = _marked(token.children, WORD)

    def _relink(self, children):
        """Links to reports lead to their pages, where these are written too or are there."""
        for link in (child for child in children if child.type == "link_open"):
            href = link.attrs["href"]
            path = urlsplit(href).path
            name = path.rpartition("/")[2]
            if name in PAGES and href.startswith(path) and not path.startswith("/"):
                target = os.path.join(self.folder, os.fsdecode(unquote_to_bytes(path.removesuffix(name))), PAGES[name])
                if os.path.normpath(target) in self.pages or Path(target).is_file():
                    link.attrs["href"] = path.removesuffix(name) + PAGES[name] + href.removeprefix(path)

    def _figure(self, token, words) -> str:
        """A picture that we drew; of any other file that an image names, only the text that stands for it."""
        name = unquote(token.attrs["src"])
        picture = b""
        with suppress(OSError):  # a link, or not there
            picture = read_below(self.folder, name) if OURS.fullmatch(name) else b""
        if not picture.startswith(PNG) or len(picture) < 24:
            return html.escape(words)
        width, height = struct.unpack(">II", picture[16:24])
        data = base64.b64encode(picture).decode("ascii")
        return f'<img src="data:image/png;base64,{data}" alt="{html.escape(words)}" width="{width}" height="{height}">'


def _text(inline) -> str:
    return "".join(c.content for c in inline.children if c.type in ("text", "code_inline", "math_inline", "verdict"))


def _cell(header, column, inline) -> dict[str, str]:
    """The name of a cell's column, which stands beside it on a narrow screen, and what kind of cell it is."""
    first = int(header[0] not in NAMING and header[1:2] != [] and header[1] in NAMING)  # a verdict may stand before
    naming = column == first or (column > first and all(name in NAMING for name in header[first : column + 1]))
    text = _text(inline).strip()
    kinds = {
        "key": naming,
        "verdicts": bool(WORD.search(text) or LETTERED.match(text)) and not naming,
        "none": text in ("", NOTHING),
    }
    kind = " ".join(name for name, true in kinds.items() if true)
    label = header[column] if column < len(header) else ""
    return ({"class": kind} if kind else {}) | {"data-label": label}


def _marked(children, pattern):
    """The children of a line, its verdicts as tokens of their own."""
    done = []
    for child in children:
        if child.type != "text":
            done.append(child)
            continue
        for k, part in enumerate(pattern.split(child.content)):
            if part:
                done.append(child.copy(type="verdict" if k % 2 else "text", content=part))
    return done


def _hold_together(cell):
    """In a cell a verdict carries the page's own mark, and an interval is not broken."""
    for i, child in enumerate(cell):
        if child.type == "verdict":
            before = next((c for c in reversed(cell[:i]) if c.type not in ("strong_open", "em_open")), None)
            if before is not None and before.type == "text":
                before.content = MARK.sub("", before.content)
            after = cell[i + 1] if i + 1 < len(cell) else None
            if child.content in LETTERS and after is not None and after.type == "text":
                after.content = NUMBER.sub("\N{NO-BREAK SPACE}", after.content)
        elif child.type == "text":
            child.content = INTERVAL.sub(lambda found: found[0].replace(" ", "\N{NO-BREAK SPACE}"), child.content)


def _badge(token) -> str:
    name = LETTERS.get(token.content, token.content)
    kind = name.lower().replace(" ", "-")
    short = f' short" title="{name}' if token.content in LETTERS else ""
    return f'<span class="verdict {kind}{short}" data-verdict="{name}">{token.content}</span>'


# Attributes that draw; the others lead somewhere, load something or change the page around a formula.
DRAWING = re.compile(
    "accent|columnalign|columnspacing|depth|display|displaystyle|fence|form|height|linethickness|lspace|mathsize|"
    "mathvariant|maxsize|minsize|movablelimits|notation|rowlines|rowspacing|rspace|scriptlevel|separator|stretchy|"
    "voffset|width"
)
SPACE = '<mspace width="0.17em"></mspace>'  # after a function's name: ln T


def mathml(formula: str, display: bool = False) -> str:
    """A formula as MathML; what the converter cannot read stands there as it is, as code."""
    from latex2mathml.converter import convert_to_element

    try:
        return _serialised(convert_to_element(formula, display="block" if display else "inline"))
    except Exception:  # the converter has a dozen kinds of its own, and meets others on odd input
        return f"<code>{html.escape(formula)}</code>"


def _serialised(element) -> str:
    """The converter's own writer leaves < and & in a text as they are, and lets links and styles pass."""
    attributes = "".join(f' {k}="{_escaped(v)}"' for k, v in element.attrib.items() if DRAWING.fullmatch(k))
    inside = _escaped(element.text)
    for child in element:
        inside += _serialised(child) + _escaped(child.tail)
        if element.tag == "mrow" and child.tag == "mi" and len(child.text or "") > 1 and child.text.isalpha():
            inside += SPACE
    return f"<{element.tag}{attributes}>{inside}</{element.tag}>"


def _escaped(text) -> str:
    return html.escape(html.unescape(text or ""))

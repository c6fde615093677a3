"""What is shown: markdown as GitHub renders it, and objects as lines in a terminal or tables in a notebook.

Pages of one's own are written like the reports with the functions that `__all__` names.
"""

import math
import re
import textwrap
from collections.abc import Iterable, Mapping
from fractions import Fraction
from html import escape
from itertools import chain, zip_longest
from numbers import Integral, Real

__all__ = ["counted", "estimate", "fenced", "fixed", "fraction", "general", "horizon_text"]
__all__ += ["interval", "listing", "table"]
NOTHING = "–"
WIDTH, NO_BREAK = 80, "\N{NO-BREAK SPACE}"  # of a terminal; between words that stay together
MARKS = {"CONSISTENT": "✓", "REFUTED": "✘", "INCONCLUSIVE": "?"}  # also in grey

# Of a text that is not ours: what ends a line, what nobody sees, and what markdown, HTML or GitHub take for markup.
# Numbers in brackets are intervals, and six_hump_camel is a word.
ENDS = re.compile(r"[ \t]*[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]\s*")
UNSEEN = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
NUMBERS = r"\[(?=[^\]]*\d)[-+\d., e]+\](?![(\[:])"
MARKUP = re.compile(
    rf"(?<=.)(?P<numbers>{NUMBERS})"
    r"|&(?=[#a-zA-Z])|<(?![\s=\d])|[\\`*~$\[\]]|(?<![^\W_])_|_(?![^\W_])"
    r"|(?<=\w):(?=//)|(?<=www)\."
    r"|^(?:[#>]|[-+=](?=[-+=\s]|$)|\d+[.)](?=\s|$))",
    re.IGNORECASE,
)


def table(header, rows) -> str:
    """A table in markdown; cells are text, None where there is nothing to show."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(_cell(c) for c in line) + " |" for line in lines)


def _cell(content) -> str:
    text = NOTHING if content is None else str(content)
    return text.replace("|", "\\|").replace("\n", " ")


def one_line(text) -> str:
    """A text that is not ours, in one line and without characters that nobody sees."""
    return UNSEEN.sub("\N{REPLACEMENT CHARACTER}", ENDS.sub(" ", text.strip()))


def escaped(text) -> str:
    """A text that is not ours, letter by letter: what could be markup is an entity, which no rule of markdown reads."""
    return MARKUP.sub(_spelt, one_line(text))


def _spelt(match) -> str:
    if match["numbers"]:
        return match[0]
    return f"{match[0][:-1]}&#{ord(match[0][-1])};"


def fenced(text, language="") -> str:
    """A block of code in markdown; its fence is longer than any row of backticks inside."""
    lines = [UNSEEN.sub("\N{REPLACEMENT CHARACTER}", line) for line in text.splitlines()]
    fence = "`" * max(3, 1 + max((len(row) for row in re.findall("`+", text)), default=0))
    return "\n".join([fence + language, *lines, fence])


def wrapped(text, *, first="", others="", width=WIDTH, cut=False) -> list[str]:
    """Lines of a text in which no formula is broken; a word that is longer than a line is cut only if asked."""
    whole = re.sub(r"\(ln T\)|\S+ = \S+", lambda found: found[0].replace(" ", NO_BREAK), " ".join(text.split()))
    indents = {"initial_indent": first, "subsequent_indent": others}
    lines = textwrap.wrap(whole, width, **indents, break_long_words=cut, break_on_hyphens=False)
    return [line.replace(NO_BREAK, " ") for line in lines] or [first.rstrip()]


def absent(x) -> bool:
    return x is None or (isinstance(x, float) and math.isnan(x))


def fixed(x, digits=3) -> str:
    """A number with so many decimals; a dash for None and NaN."""
    if absent(x):
        return NOTHING
    text = f"{x:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def general(x, digits=4) -> str:
    """A number with so many significant digits, and no exponent below ten millions; a dash for None and NaN."""
    if absent(x):
        return NOTHING
    text = f"{x:.{digits}g}"
    return f"{float(text):.0f}" if "e+" in text and abs(x) < 1e7 else text


def horizon_text(x) -> str:
    """A horizon: all digits of a whole number, three digits of another."""
    if absent(x):
        return NOTHING
    return str(int(x)) if float(x).is_integer() and x < 1e12 else f"{x:.3g}"


def interval(low, high, digits=3) -> str:
    """An interval, [0.410, 0.630]; a dash where its lower end is None or NaN."""
    return NOTHING if absent(low) else f"[{fixed(low, digits)}, {fixed(high, digits)}]"


def estimate(value, low, high, digits=3) -> str:
    """A number with its interval, 0.520 [0.410, 0.630]; a dash for None and NaN."""
    return NOTHING if absent(value) else f"{fixed(value, digits)} {interval(low, high, digits)}"


def p_value(p) -> str:
    if absent(p):
        return NOTHING
    return "< 0.001" if p < 0.001 else fixed(p)


def fraction(x) -> str:
    """A number as a fraction, 1/2 for 0.5; decimals where no small denominator fits."""
    simple = Fraction(x).limit_denominator(36)
    return str(simple) if math.isclose(simple, x, abs_tol=1e-9) else f"{x:.3f}"


def formula(rate) -> str:
    """The growth of R that a rate promises, as a formula."""
    growth = f"T^{{{fraction(rate.slope)}}}"
    power = "" if rate.log_power == 1 else f"^{{{fraction(rate.log_power)}}}"
    return f"${growth}$" if rate.log_power == 0 else rf"${growth} (\ln T){power}$"


def listing(names, most=6) -> str:
    """Names in a sentence, "a, b and c"; a long list ends with how many more there are."""
    names = list(names)
    if len(names) > most + 1:
        return ", ".join(names[:most]) + f" and {len(names) - most} more"
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def counted(n, noun) -> str:
    """A number of things, "1 run" or "2 runs"."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def among(n, total, rest="") -> str:
    """In how many cases out of how many; `rest` says which cases: with β > 1."""
    rest = f" {rest}" if rest else ""
    if total == 1:
        return f"in the one case{rest}" if n == 1 else f"in no case{rest} (of one)"
    if n in (0, total):
        few, many = ("neither", "none of the") if n == 0 else ("both", "all")
        return f"in {few} case{'s' * (n > 0)}{rest}" if total == 2 else f"in {many} {total} cases{rest}"
    return f"in {n} of {total} cases{rest}"


def thousands(n) -> str:
    """A count, all its digits: 2,309,368."""
    return NOTHING if absent(n) else f"{round(n):,}"


# Grey at half strength and no background: readable on white and on black.
LINE = "border:0;border-bottom:1px solid rgba(128,128,128,.35);padding:.2em .8em .2em 0;background:transparent"
LEFT, RIGHT = (f"{LINE};text-align:{side};vertical-align:top" for side in ("left", "right"))
WRAPPED = ";white-space:normal;max-width:48em"
BADGES = {"CONSISTENT": "#1b7837", "REFUTED": "#b2182b", "INCONCLUSIVE": "#666666"}  # under white letters


class Speaking:
    """An object with a title and facts: `_repr_html_` is what a notebook shows of it.

    A class says them in `_facts`, and prints itself as a line for each, unless it has another `__str__`.
    """

    def _title(self) -> str:
        return type(self).__name__

    def _facts(self) -> Mapping[str, object]:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return html_facts(self._title(), self._facts())

    def __str__(self):
        return lines(self._facts())

    def __repr__(self):
        return f"<{type(self).__name__} {self}>"


def seen(value) -> str:
    """A text on one line, with nothing that a terminal obeys."""
    if isinstance(value, bool):
        return "yes" if value else "NO"
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in " ".join(str(value).split()))


def lines(facts: Mapping[str, object]) -> str:
    width = max(map(len, facts), default=0)
    return "\n".join(f"{name:{width}}  {seen(value)}".rstrip() for name, value in facts.items())


def html_facts(title: str, facts: Mapping[str, object]) -> str:
    heads = (f'<tr><th scope="row" style="{LEFT}">{escape(seen(name))}</th>' for name in facts)
    cells = (f'<td style="{LEFT}{WRAPPED}">{cell(value)}</td></tr>' for value in facts.values())
    return _table(title, "".join(chain.from_iterable(zip(heads, cells, strict=True))))


def html_table(title: str, header: Iterable[str], rows: Iterable[Iterable]) -> str:
    """Numbers to the right, all else to the left."""
    rows = [list(row) for row in rows]
    sides = [RIGHT if rows and all(_is_number(v) for v in column) else LEFT for column in zip(*rows, strict=True)]
    names = zip_longest(header, sides, fillvalue=LEFT)
    head = "".join(f'<th scope="col" style="{side}">{escape(seen(name))}</th>' for name, side in names)
    body = "".join(f"<tr>{''.join(map(_td, row))}</tr>" for row in rows)
    return _table(title, f"<tr>{head}</tr>{body}")


def _is_number(value) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


class Headed(str):
    """A text that begins with the name of a verdict, which a notebook shows as a badge."""

    def __new__(cls, name, rest):
        text = super().__new__(cls, f"{name}{rest}")
        text.name = name
        return text


def cell(value) -> str:
    """Of a table: whatever it holds, it is text; what has the name of a verdict begins with it."""
    text, name = seen(value), getattr(value, "name", None)
    if name not in BADGES:
        return escape(text)
    badge = f"background:{BADGES[name]};color:#fff;padding:.05em .5em;border-radius:.3em;font-weight:bold"
    return f'<span style="{badge}">{name}</span>{escape(text.removeprefix(name))}'


def _td(value) -> str:
    if _is_number(value):
        return f'<td style="{RIGHT}">{value if isinstance(value, Integral) else format(value, ".6g")}</td>'
    return f'<td style="{LEFT}{WRAPPED}">{cell(value)}</td>'


def _table(title, rows) -> str:
    caption = f'<caption style="text-align:left;font-weight:bold;caption-side:top;color:inherit">{escape(seen(title))}'
    return f'<table style="border-collapse:collapse;color:inherit">{caption}</caption>{rows}</table>'

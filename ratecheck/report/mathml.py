"""Formulas: TeX as MathML, which a browser draws without a script."""

from __future__ import annotations

import html
import re

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

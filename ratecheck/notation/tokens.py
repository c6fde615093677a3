"""The words of a rate: names, numbers, brackets and functions, each with its place."""

import re
from dataclasses import dataclass

from ..arguments import shown

EXAMPLE = "'T^0.5 (ln T)^1', 'sqrt(T) ln T' or 'R/T = T^(-1/2)'"

SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ᐟ⸍⁄", "0123456789+-()///", strict=True))
_SUPER = "".join(SUPERSCRIPTS)
_FRACTIONS = "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
_NO_LETTER = rf"\W\d_{_SUPER}{_FRACTIONS}\u2080-\u209f"
_LETTERS = rf"[^{_NO_LETTER}]+"
DRESS = r"(?:math\w+|operatorname|text\w*|cal)"
_INDEX = r"_(?:\{[^{}]*\}|\w)\w*"

_ENDS = r"(?![a-z])"  # of a command of LaTeX
_ALONE = rf"(?![^{_NO_LETTER}])"  # no letter follows
_TILDE = r"\\(?:wide)?tilde\s*\{?\s*"
_BEFORE_BRACKET = r"(?=\s*(?:\\left|\\[bB]igg?l?)?\s*[(\[{])"
_RELATIONS = "leqslant|geqslant|leq|geq|le|ge|lesssim|gtrsim|simeq|sim|approx|asymp|propto|in|ll|gg|lt|gt"
_KINDS = {
    "space": rf"(?:\s|[\u200b\u2060-\u2064\ufeff$&]|\\[,;:! ]|\\(?:q?quad|left|right|[bB]igg?[lr]?){_ENDS})+",
    "soft": rf"{_TILDE}(?:\\{DRESS}\s*\{{?\s*)?[OΘΩ]{_ALONE}[\s}}]*|{_TILDE}\\(?:Theta|Omega){_ENDS}[\s}}]*"
    r"|Õ|[OΘΩ]\u0303|[OΘΩ]~|\A~O(?=\s*[(\[{])|O\^?\*(?=\s*[(\[{])",
    "landau": rf"\\{DRESS}\s*\{{?\s*O{_ALONE}\s*\}}?|\\(?:Theta|Omega){_ENDS}"
    rf"|(?:Theta|Omega|[OΘΩ𝒪𝑂]){_BEFORE_BRACKET}",
    "little": rf"(?:\\omega{_ENDS}|[oω])(?=\s*(?:\\left)?\s*[(\[{{])",
    "relation": rf"<=|>=|:=|==|=~|~=|~~|[=<>≤≥≦≧⩽⩾≲≳≈≃≅≍∼~∝∈≪≫]|\\(?:{_RELATIONS}){_ENDS}",
    "frac": rf"\\[dt]?frac{_ENDS}",
    "log": rf"(?:\\?(?i:ln|log|lg){_ALONE}|\\?(?i:log)(?=2\b|10\b))(?:(?:2|10)\b|_(?:\{{[^{{}}]*\}}|\d+|e\b)|[₀-₉]+)?",
    "root": rf"\\?(?i:sqrt){_ALONE}(?:\s*\[\s*\d+\s*\])?|cbrt{_ALONE}|[√∛∜]",
    "decimal": r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?",
    "vulgar": f"[{_FRACTIONS}]",
    "superscript": rf"[{_SUPER}]+(?:[·⋅˙.][⁰¹²³⁴⁵⁶⁷⁸⁹]+[⁾]*)?",
    "power": r"\*\*|\^",
    "times": rf"\*|·|×|⋅|∗|∙|•|\\cdot{_ENDS}|\\times{_ENDS}",
    "over": rf"/|÷|∕|⁄|\\div{_ENDS}|\\over{_ENDS}",
    "sign": rf"[+\-−–—±]|\\pm{_ENDS}",
    "open": r"[(\[{]|\\\{",
    "close": r"[)\]}]|\\\}",
    "bar": rf"\\?\||\\[lr]?[vV]ert{_ENDS}",
    "dressed": rf"\\{DRESS}\s*\{{\s*{_LETTERS}\s*\}}(?:{_INDEX})?'*",
    "name": rf"\\?{_LETTERS}(?:{_INDEX}|[\u2080-\u209f]+)?'*",
}
_TOKENS = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _KINDS.items()))


class NotationError(ValueError):
    """A text that is no rate; the message shows the place."""


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def tokens_of(text: str) -> list[Token]:
    found, place = [], 0
    while place < len(text):
        match = _TOKENS.match(text, place)
        if match is None:
            comma = text[place] == "," and text[place - 1 : place].isdigit()
            hint = "write the decimal point" if comma else f"write for example {EXAMPLE}"
            raise error_at(text, place, f"{shown(text[place])} is not understood; {hint}")
        if match.lastgroup != "space":
            found.extend(_split(Token(match.lastgroup, match.group(), place)))
        place = match.end()
    return [*found, Token("end", "", len(text))]


def _split(token: Token) -> list[Token]:
    """TlnT and sqrtT are two or three words, KT and dT are products with a constant."""
    if token.kind == "name" and re.fullmatch(r"[ABCDGKLMSabcdk]{1,2}[TnN]", token.text):
        return [Token("name", letter, token.start + i) for i, letter in enumerate(token.text)]
    parts = token.kind == "name" and re.fullmatch(r"([^\W\d_])?(ln|log|sqrt)([^\W\d_])?", token.text)
    if not parts:
        return [token]
    kinds = ("name", "root" if parts[2] == "sqrt" else "log", "name")
    return [Token(kind, parts[i], token.start + parts.start(i)) for i, kind in enumerate(kinds, 1) if parts[i]]


def error_at(text: str, place: int, message: str) -> NotationError:
    line = " ".join(f"{text[:place]} here --> {text[place:]}".split())
    return NotationError(f"rate = '{line}': {message}")

r"""Rates as people write them: T^(2/3) (ln T)^(1/3), √(T ln T), \tilde O(T^{1/2}), R/T = T^-0.5, h^2.

    side     = product, after "R =", "R/T =", "regret <=", … or nothing
    product  = factor { ["*" | "/"] factor }
    factor   = atom ["^" exponent]
    atom     = number | name | "(" product ")" | function [index] atom | O "(" product ")" | \frac{product}{product}
    exponent = a number, or an arithmetic expression of numbers in brackets

Numbers are fractions, so that T^(2/3) is 2/3 as Python has it.  Constant factors do not count.  What two people could
read in two ways, such as T^1/2 or ln T^2, is refused with both ways of writing it.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from fractions import Fraction

from .arguments import shown

LONGEST, DEEPEST = 400, 20
LARGEST, MOST_DIGITS = 10**300, 400
EXAMPLE = "'T^0.5 (ln T)^1', 'sqrt(T) ln T' or 'R/T = T^(-1/2)'"

# next to a variable these are taken for constants: c T^0.5, sqrt(d T), ln(T / delta)
CONSTANTS = {
    *"AaBbCcDdGKkLMeSVσδκλγραβπμνηΔ",
    *("sigma", "delta", "kappa", "lambda", "gamma", "rho", "alpha", "beta", "pi", "mu", "nu", "eta", "Delta"),
    *("const", "constant"),
}
ALWAYS_CONSTANT = {"const", "constant", "pi", "π", "e"}
NO_RATES = {
    "exp": "is exponential; a rate is a power of T and of ln T",
    "max": "is no single power; take the larger one",
    "min": "is no single power; take the smaller one",
    "polylog": "does not say which power of ln T; write it out",
    "poly": "does not say which power; write it out",
    "loglog": "is the logarithm of a logarithm, which a rate has no place for; leave it out",
    "lnln": "is the logarithm of a logarithm, which a rate has no place for; leave it out",
}

_SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ᐟ⸍⁄", "0123456789+-()///", strict=True))
_SUPER = "".join(_SUPERSCRIPTS)
_FRACTIONS = "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
_NO_LETTER = rf"\W\d_{_SUPER}{_FRACTIONS}\u2080-\u209f"
_LETTERS = rf"[^{_NO_LETTER}]+"
_DRESS = r"(?:math\w+|operatorname|text\w*|cal)"
_INDEX = r"_(?:\{[^{}]*\}|\w)\w*"

_TOKENS = re.compile(
    "|".join(
        f"(?P<{name}>{pattern})"
        for name, pattern in (
            (
                "space",
                r"(?:\s|[\u200b\u2060-\u2064\ufeff$&]|\\[,;:! ]|\\(?:q?quad|left|right|[bB]igg?[lr]?)(?![a-z]))+",
            ),
            (
                "soft",
                rf"\\(?:wide)?tilde\s*\{{?\s*(?:\\{_DRESS}\s*\{{?\s*)?[OΘΩ](?![^{_NO_LETTER}])[\s}}]*"
                rf"|\\(?:wide)?tilde\s*\{{?\s*\\(?:Theta|Omega)(?![a-z])[\s}}]*|Õ|[OΘΩ]\u0303|[OΘΩ]~|\A~O(?=\s*[(\[{{])"
                r"|O\^?\*(?=\s*[(\[{])",
            ),
            (
                "landau",
                rf"\\{_DRESS}\s*\{{?\s*O(?![^{_NO_LETTER}])\s*\}}?|\\(?:Theta|Omega)(?![a-z])"
                r"|(?:Theta|Omega|[OΘΩ𝒪𝑂])(?=\s*(?:\\left|\\[bB]igg?l?)?\s*[(\[{])",
            ),
            ("little", r"(?:\\omega(?![a-z])|[oω])(?=\s*(?:\\left)?\s*[(\[{])"),
            (
                "relation",
                r"<=|>=|:=|==|=~|~=|~~|[=<>≤≥≦≧⩽⩾≲≳≈≃≅≍∼~∝∈≪≫]"
                r"|\\(?:leqslant|geqslant|leq|geq|le|ge|lesssim|gtrsim|simeq|sim|approx|asymp|propto|in|ll|gg|lt|gt)(?![a-z])",
            ),
            ("frac", r"\\[dt]?frac(?![a-z])"),
            (
                "log",
                rf"(?:\\?(?i:ln|log|lg)(?![^{_NO_LETTER}])|\\?(?i:log)(?=2\b|10\b))"
                r"(?:(?:2|10)\b|_(?:\{[^{}]*\}|\d+|e\b)|[₀-₉]+)?",
            ),
            ("root", rf"\\?(?i:sqrt)(?![^{_NO_LETTER}])(?:\s*\[\s*\d+\s*\])?|cbrt(?![^{_NO_LETTER}])|[√∛∜]"),
            ("decimal", r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"),
            ("vulgar", f"[{_FRACTIONS}]"),
            ("superscript", rf"[{_SUPER}]+(?:[·⋅˙.][⁰¹²³⁴⁵⁶⁷⁸⁹]+[⁾]*)?"),
            ("power", r"\*\*|\^"),
            ("times", r"\*|·|×|⋅|∗|∙|•|\\cdot(?![a-z])|\\times(?![a-z])"),
            ("over", r"/|÷|∕|⁄|\\div(?![a-z])|\\over(?![a-z])"),
            ("sign", r"[+\-−–—±]|\\pm(?![a-z])"),
            ("open", r"[(\[{]|\\\{"),
            ("close", r"[)\]}]|\\\}"),
            ("bar", r"\\?\||\\[lr]?[vV]ert(?![a-z])"),
            ("dressed", rf"\\{_DRESS}\s*\{{\s*{_LETTERS}\s*\}}(?:{_INDEX})?'*"),
            ("name", rf"\\?{_LETTERS}(?:{_INDEX}|[\u2080-\u209f]+)?'*"),
        )
    )
)
_CLOSED_BY = {"(": ")", "[": "]", "{": "}", r"\{": r"\}"}


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


@dataclass(frozen=True)
class Notation:
    """What a text says: quantity = variable^power (ln variable)^log_power."""

    power: Fraction
    log_power: Fraction
    variable: str = "T"
    quantity: str = ""  # as it was written, without "/ T"
    divided: bool = False  # the text speaks of R / T
    soft: bool = False  # Õ: powers of ln T are hidden

    @property
    def remark(self) -> str:
        if not self.soft:
            return ""
        return (
            f"Õ hides powers of ln {self.variable}: only those that are written count, and a hidden one may pass for a "
            f"larger exponent; write it out where it is known"
        )


@dataclass(frozen=True)
class _Monomial:
    """Powers of names, and powers of logarithms of products of names."""

    powers: dict[str, Fraction]
    logs: dict[frozenset, Fraction]

    def times(self, other: _Monomial, sign=1) -> _Monomial:
        return _Monomial(_sum(self.powers, other.powers, sign), _sum(self.logs, other.logs, sign))

    def to_the(self, power: Fraction) -> _Monomial:
        return _Monomial(*({k: v * power for k, v in terms.items()} for terms in (self.powers, self.logs)))

    def constant(self) -> bool:
        return not self.powers and not self.logs


_ONE = _Monomial({}, {})


def _sum(first, second, sign):
    total = dict(first)
    for name, power in second.items():
        total[name] = total.get(name, 0) + sign * power
    return {name: power for name, power in total.items() if power}


def read(text) -> Notation:
    """The rate that a text states; NotationError shows the place where it does not."""
    if not isinstance(text, str):
        raise NotationError(f"rate = {shown(text)} must be a text such as {EXAMPLE}")
    if not text.strip(" \t\r\n$"):
        raise NotationError(f"the rate is empty; write for example {EXAMPLE}")
    if len(text) > LONGEST:
        raise NotationError(f"the rate has {len(text):,} characters; {LONGEST} are enough: write for example {EXAMPLE}")
    return _Reader(text).notation()


def _tokens(text: str) -> list[Token]:
    found, place = [], 0
    while place < len(text):
        match = _TOKENS.match(text, place)
        if match is None:
            comma = text[place] == "," and text[place - 1 : place].isdigit()
            hint = "write the decimal point" if comma else f"write for example {EXAMPLE}"
            raise _error(text, place, f"{shown(text[place])} is not understood; {hint}")
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


def _error(text: str, place: int, message: str) -> NotationError:
    line = " ".join(f"{text[:place]} here --> {text[place:]}".split())
    return NotationError(f"rate = '{line}': {message}")


class _Reader:
    def __init__(self, text: str):
        self.text = text
        self.tokens = _tokens(text)
        self.at = self.depth = 0
        self.seen: dict[str, int] = {}  # names and where they were first met
        self.soft = self.landau = False

    # the two sides

    def notation(self) -> Notation:
        relations = [i for i, token in enumerate(self.tokens) if token.kind == "relation"]
        if len(relations) > 1:
            raise self.error("there are two relations; state one, such as 'R <= T^0.5'", self.tokens[relations[1]])
        quantity, divisor = "", None
        if relations:
            quantity, divisor = self.left(self.tokens[: relations[0]])
            self.at = relations[0] + 1
        rate = self.product()
        if self.now.kind != "end":
            raise self.error(self.unexpected())
        variable = self.variable()
        if variable is None and not (relations or self.landau):
            raise self.error("a number alone is no rate; write T^0.5 for an exponent, or O(1) for a constant", 0)
        logs = sum((power for names, power in rate.logs.items() if variable in names), Fraction(0))
        power = rate.powers.get(variable, Fraction(0))
        if variable in ("C", "c") and (power, logs) == (1, 0):
            raise self.error(f"is {variable} a constant? then write O(1); a variable is better called T or n", 0)
        if max(abs(power), abs(logs)) > LARGEST:
            raise self.error("the exponent is too large", 0)
        return Notation(power, logs, variable or "T", quantity, variable is not None and divisor == variable, self.soft)

    def left(self, tokens: list[Token]) -> tuple[str, str | None]:
        """What stands before the relation: the quantity's name, and what divides it."""
        text = self.text[: self.tokens[len(tokens)].start].strip().strip("$").strip()
        for token in tokens:
            if token.kind in ("power", "superscript", "times", "root"):
                raise self.error("on the left stands the quantity, R or R/T; the powers stand on the right", token)
            if token.kind in ("log", "soft", "landau", "little"):
                raise self.error("on the left stands the quantity itself, such as R; write R = T^0.5", token)
        overs = [i for i, token in enumerate(tokens) if token.kind in ("over", "frac")]
        if re.search(r"(?i)\b(average|mean|per)\b", text) and re.search(r"(?i)regret|\bR\b", text):
            raise self.error("is it the regret of all steps or of one? write 'R = ...' or 'R/T = ...'", 0)
        if not overs:
            self.argument(tokens)
            return text, None
        if len(overs) > 1:
            raise self.error("only one division makes sense here: R/T", tokens[overs[1]])
        [place] = overs
        rest = [token for token in tokens[place + 1 :] if token.kind not in ("open", "close")]
        if tokens[place].kind == "frac":
            if len(rest) < 2 or tokens[0].kind != "frac":
                raise self.error(r"\frac has two parts, \frac{R}{T}", tokens[place])
            numerator, divisor = rest[:-1], rest[-1]
        else:
            numerator, divisor = [*tokens[:place]], rest[0] if len(rest) == 1 else None
        if divisor is None or divisor.kind not in ("name", "dressed"):
            raise self.error("the quantity can be divided by the variable alone, as in R/T = ...", tokens[place])
        self.argument(numerator)
        within = re.search(r"frac\s*\{(.*)\}\s*\{", text)
        return (within[1] if within else re.split("[/÷∕⁄]", text)[0]).strip(), self.name(divisor)

    def argument(self, tokens: list[Token]) -> None:
        """R(n) names its variable."""
        for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
            if (before.text, after.text) == ("(", ")") and token.kind == "name" and token.text in ("T", "t", "n", "N"):
                self.name(token)

    def variable(self) -> str | None:
        names = [name for name in self.seen if name not in ALWAYS_CONSTANT]
        free = [name for name in names if name not in CONSTANTS] or names
        if len(free) > 1:
            first, second = sorted(free[:2], key=self.seen.get)
            hint = next(
                (f"; if {n} is a product, write {n[0]} {n[1:]}" for n in free if re.fullmatch("[A-Za-z]{2}", n)), ""
            )
            message = f"there are two variables, {first} and {second}; a rate has one{hint}"
            raise self.error(message, self.seen[second])
        return free[0] if free else None

    # products

    @property
    def now(self) -> Token:
        return self.tokens[self.at]

    def take(self) -> Token:
        self.at += 1
        return self.tokens[self.at - 1]

    def error(self, message: str, where: Token | int | None = None) -> NotationError:
        where = self.now if where is None else where
        return _error(self.text, where if isinstance(where, int) else where.start, message)

    def unexpected(self) -> str:
        token = self.now
        if token.kind == "sign":
            return "a sum is no single power; take the leading term alone"
        if token.kind == "end":
            return f"the rate ends too early; write for example {EXAMPLE}"
        if token.kind in ("decimal", "vulgar"):
            return "a number cannot follow directly; write ^ before an exponent and * before a factor"
        if token.kind == "close":
            return f"{token.text!r} closes nothing"
        return f"{token.text!r} is not expected; write for example {EXAMPLE}"

    def product(self) -> _Monomial:
        if self.now.kind == "sign":
            raise self.error("a rate has no sign; write what grows or shrinks, such as T^0.5 or T^-0.5")
        total, number = self.factor()
        bare_divisor = None  # 1/T ln T: is ln T below or above?
        while True:
            token = self.now
            if token.kind == "times":
                self.take()
                factor, number = self.factor()
                total, bare_divisor = total.times(factor), None
            elif token.kind == "over":
                if bare_divisor is not None:
                    raise self.error("two divisions in a row; write brackets")
                self.take()
                factor, number = self.factor()
                total, bare_divisor = total.times(factor, -1), (token, number)
            elif token.kind in ("name", "dressed", "log", "root", "frac", "open", "soft", "landau", "little") or (
                token.kind == "bar" and self.depth == 0
            ):
                if bare_divisor is not None and not (bare_divisor[1] and self.text[token.start - 1].isspace()):
                    raise self.error("does this stand below the '/' or beside it? write brackets or *")
                factor, number = self.factor()
                total, bare_divisor = total.times(factor), None
            else:
                return total

    def factor(self) -> tuple[_Monomial, bool]:
        """A power, and whether it is a bare number."""
        first = self.now
        atom = self.atom()
        if self.now.kind not in ("power", "superscript"):
            return atom, first.kind in ("decimal", "vulgar")
        caret = self.now
        if first.kind in ("decimal", "vulgar") or first.text == "e":
            self.no_exponential(first)
        power, bare = self.exponent()
        if self.now.kind in ("power", "superscript"):
            raise self.error("there are two exponents; write brackets")
        if bare and self.now.kind == "over" and self.tokens[self.at + 1].kind == "decimal":
            base = self.text[first.start : caret.start].strip()
            fraction = f"{bare}/{self.tokens[self.at + 1].text}"
            raise self.error(f"is the exponent {bare} or {fraction}? write {base}^({fraction}), or ({base}^{bare})/...")
        return atom.to_the(power), False

    def no_exponential(self, base: Token) -> None:
        """2^T and e^(-T) are refused as what they are."""
        depth, names = 0, False
        for token in self.tokens[self.at + 1 :]:
            depth += (token.kind == "open") - (token.kind == "close")
            names = names or token.kind in ("name", "dressed", "log", "root")
            if depth <= 0 and token.kind != "sign":
                break
        if names:
            raise self.error(f"{base.text}^… {NO_RATES['exp']}", base)

    def atom(self) -> _Monomial:
        token = self.take()
        match token.kind:
            case "decimal" | "vulgar":
                if not self.number(token):
                    raise self.error("0 is no rate", token)
                return _ONE
            case "name" | "dressed":
                return self.named(token)
            case "open":
                return self.group(token)
            case "bar":
                return self.bars(token)
            case "log":
                return self.logarithm(token)
            case "root":
                degree = {"∛": 3, "∜": 4, "cbrt": 3}.get(token.text) or int(_digits(token.text) or 2)
                if not degree:
                    raise self.error("there is no root of degree 0", token)
                return self.atom().to_the(Fraction(1, degree))
            case "frac":
                return self.part(self.atom).times(self.part(self.atom), -1)
            case "soft" | "landau":
                self.soft, self.landau = self.soft or token.kind == "soft", True
                if self.now.kind != "open":
                    raise self.error(f"brackets are missing: {token.text.strip()}(T^0.5)")
                return self.atom()
            case "little":
                raise self.error("o and ω say less than a rate, which needs O, Θ or Ω; write the rate itself", token)
        self.at -= 1
        raise self.error(self.unexpected())

    def group(self, opened: Token) -> _Monomial:
        self.deeper(opened)
        inner = self.product()
        self.close(opened)
        return inner

    def bars(self, opened: Token) -> _Monomial:
        self.deeper(opened)
        inner = self.product()
        if self.take().kind != "bar":
            raise self.error("the bar | is not closed", opened)
        self.depth -= 1
        return inner

    def deeper(self, opened: Token) -> None:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.error("the brackets are nested too deeply", opened)

    def close(self, opened: Token) -> None:
        if self.now.kind == "end":
            raise self.error(f"{opened.text!r} is not closed", opened)
        if self.now.kind != "close":
            raise self.error(self.unexpected())
        if self.now.text != _CLOSED_BY[opened.text]:
            raise self.error(f"{opened.text!r} is closed by {self.now.text!r}")
        self.take()
        self.depth -= 1

    def part(self, read):
        """A part of a LaTeX fraction: a group, or one digit as in \\frac12."""
        token = self.now
        if token.kind == "decimal" and token.text.isdigit() and len(token.text) > 1:
            rest = Token("decimal", token.text[1:], token.start + 1)
            self.tokens[self.at : self.at + 1] = [Token("decimal", token.text[0], token.start), rest]
        return read()

    def name(self, token: Token) -> str:
        name = unicodedata.normalize("NFKC", re.sub(rf"\\{_DRESS}|[\\{{}}\s]", "", token.text))
        self.seen.setdefault(name, token.start)
        return name

    def named(self, token: Token) -> _Monomial:
        name = self.name(token)
        if name in NO_RATES:
            raise self.error(f"{name} {NO_RATES[name]}", token)
        if re.search("^ln|log|sqrt", name.lower()):
            raise self.error(f"is there a logarithm or a root in {name}? write spaces and brackets, as in ln(T)", token)
        return _Monomial({name: Fraction(1)}, {})

    def logarithm(self, token: Token) -> _Monomial:
        power = Fraction(1)
        if self.now.kind in ("power", "superscript"):
            if self.text[self.now.end :].lstrip().startswith("{("):
                raise self.error("an iterated logarithm has no place in a rate; leave it out", token)
            power, _ = self.exponent()
        if self.now.kind == "times":
            raise self.error("the logarithm has no argument; write ln T", token)
        bracketed, argument_at = self.now.kind in ("open", "bar"), self.now
        if self.now.kind == "log":
            raise self.error("the logarithm of a logarithm has no place in a rate; leave it out", token)
        argument = self.atom()
        if not bracketed and self.now.kind in ("power", "superscript"):
            inner = argument_at.text
            raise self.error(f"is it (ln {inner})^… or ln({inner}^…)? write brackets")
        if not bracketed and argument_at.kind in ("decimal", "vulgar"):
            raise self.error("how far does the logarithm reach? write brackets", argument_at)
        if argument.logs:
            raise self.error("the logarithm of a logarithm has no place in a rate; leave it out", token)
        return _Monomial({}, {frozenset(argument.powers): power} if argument.powers and power else {})

    # exponents

    def exponent(self) -> tuple[Fraction, str]:
        """Its value, and its text if it is a whole number without brackets."""
        token = self.take()
        if token.kind == "superscript":
            return self.superscript(token), ""
        start = self.now
        sign = -1 if self.now.kind == "sign" and self.now.text in "-−–—" else 1
        if self.now.kind == "sign":
            self.take()
        bare = self.now.kind == "decimal" and self.now.text.isdigit()
        value = sign * self.unit()
        return value, self.text[start.start : self.tokens[self.at - 1].end] if bare else ""

    def superscript(self, token: Token) -> Fraction:
        plain = "".join(_SUPERSCRIPTS.get(sign, ".") for sign in token.text)
        inner = _Reader(plain)
        try:
            value = inner.arithmetic()
            ended = inner.now.kind == "end"
        except NotationError:
            ended = False
        if not ended:
            raise self.error(f"the exponent {token.text} is no number", token)
        return value

    def arithmetic(self) -> Fraction:
        sign = self.sign()
        total = sign * self.term()
        while self.now.kind == "sign":
            sign = self.sign()
            total += sign * self.term()
        return total

    def sign(self) -> int:
        if self.now.kind != "sign":
            return 1
        token = self.take()
        if token.text in ("±", r"\pm"):
            raise self.error("an exponent is one number", token)
        return 1 if token.text == "+" else -1

    def term(self) -> Fraction:
        total = self.unit()
        while self.now.kind in ("times", "over"):
            over = self.take()
            right = self.unit()
            if over.kind == "over" and not right:
                raise self.error("a division by 0", over)
            total = total / right if over.kind == "over" else total * right
        return total

    def unit(self) -> Fraction:
        token = self.take()
        match token.kind:
            case "decimal":
                value = self.number(token)
                mixed = token.text.isdigit() and self.now.kind == "vulgar"  # 1½
                return value + self.number(self.take()) if mixed else value
            case "vulgar":
                return self.number(token)
            case "open":
                self.deeper(token)
                value = self.arithmetic()
                self.close(token)
                return value
            case "frac":
                top, bottom = self.part(self.unit), self.part(self.unit)
                if not bottom:
                    raise self.error("a division by 0", token)
                return top / bottom
            case "name" | "dressed" | "log" | "root":
                raise self.error(f"the exponent is no number: put a number in for {token.text.strip()}", token)
        self.at -= 1
        if self.now.kind == "sign":
            raise self.error("two signs in a row; write brackets")
        raise self.error("here an exponent is expected, a number or a fraction in brackets")

    def number(self, token: Token) -> Fraction:
        if token.kind == "vulgar":
            return Fraction(unicodedata.normalize("NFKC", token.text).replace("⁄", "/"))
        _, _, ten = token.text.lower().partition("e")
        if abs(int(ten or 0)) > MOST_DIGITS:
            raise self.error("the number is too large or too small", token)
        return Fraction(token.text)


def _digits(text: str) -> str:
    return "".join(filter(str.isdigit, text))

"""From words to a rate: a parser by recursive descent, one method for each rule of the grammar."""

import re
import unicodedata
from dataclasses import dataclass
from fractions import Fraction

from ..arguments import shown
from .tokens import DRESS, EXAMPLE, SUPERSCRIPTS, NotationError, Token, error_at, tokens_of

LONGEST, DEEPEST = 400, 20
LARGEST, MOST_DIGITS = 10**300, 400

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

_STARTS = {"name", "dressed", "log", "root", "frac", "open", "soft", "landau", "little"}  # of a factor, but for numbers
_CLOSED_BY = {"(": ")", "[": "]", "{": "}", r"\{": r"\}"}


@dataclass(frozen=True)
class Notation:
    """What a text says: R = variable^power (ln variable)^log_power, or R / T where it is divided."""

    power: Fraction
    log_power: Fraction
    variable: str
    divided: bool  # the text speaks of R / T
    soft: bool  # Õ: powers of ln T are hidden

    @property
    def remark(self) -> str:
        hidden = f"Õ hides powers of ln {self.variable}: only those that are written count, and a hidden one may pass "
        return f"{hidden}for a larger exponent; write it out where it is known" if self.soft else ""


# A product is a dictionary of powers: its keys are names and, for logarithms, sets of the names within.


def _times(first: dict, second: dict, sign=1) -> dict:
    total = dict(first)
    for key, power in second.items():
        total[key] = total.get(key, 0) + sign * power
    return {key: power for key, power in total.items() if power}


def _to_the(product: dict, power: Fraction) -> dict:
    return {key: value * power for key, value in product.items()}


def read(text) -> Notation:
    """The rate that a text states; NotationError shows the place where it does not."""
    if not isinstance(text, str):
        raise NotationError(f"rate = {shown(text)} must be a text such as {EXAMPLE}")
    if not text.strip(" \t\r\n$"):
        raise NotationError(f"the rate is empty; write for example {EXAMPLE}")
    if len(text) > LONGEST:
        raise NotationError(f"the rate has {len(text):,} characters; {LONGEST} are enough: write for example {EXAMPLE}")
    return _Reader(text).notation()


class _Reader:
    def __init__(self, text: str):
        self.text = text
        self.tokens = tokens_of(text)
        self.at = self.depth = 0
        self.seen: dict[str, int] = {}  # names and where they were first met
        self.soft = self.landau = False

    # the two sides

    def notation(self) -> Notation:
        relations = [i for i, token in enumerate(self.tokens) if token.kind == "relation"]
        if len(relations) > 1:
            raise self.error("there are two relations; state one, such as 'R <= T^0.5'", self.tokens[relations[1]])
        divisor = None
        if relations:
            divisor = self.left(self.tokens[: relations[0]])
            self.at = relations[0] + 1
        rate = self.product()
        if self.now.kind != "end":
            raise self.error(self.unexpected())
        variable = self.variable()
        if variable is None and not (relations or self.landau):
            raise self.error("a number alone is no rate; write T^0.5 for an exponent, or O(1) for a constant", 0)
        logs = sum((p for key, p in rate.items() if isinstance(key, frozenset) and variable in key), Fraction(0))
        power = rate.get(variable, Fraction(0))
        if variable in ("C", "c") and (power, logs) == (1, 0):
            raise self.error(f"is {variable} a constant? then write O(1); a variable is better called T or n", 0)
        if max(abs(power), abs(logs)) > LARGEST:
            raise self.error("the exponent is too large", 0)
        return Notation(power, logs, variable or "T", variable is not None and divisor == variable, self.soft)

    def left(self, tokens: list[Token]) -> str | None:
        """What divides the quantity that stands before the relation."""
        text = self.text[: self.tokens[len(tokens)].start]
        for token in tokens:
            if token.kind in ("power", "superscript", "times", "root"):
                raise self.error("on the left stands the quantity, R or R/T; the powers stand on the right", token)
            if token.kind in ("log", "soft", "landau", "little"):
                raise self.error("on the left stands the quantity itself, such as R; write R = T^0.5", token)
        overs = [i for i, token in enumerate(tokens) if token.kind in ("over", "frac")]
        if re.search(r"(?i)\b(average|mean|per)\b", text) and re.search(r"(?i)regret|\bR\b", text):
            raise self.error("is it the regret of all steps or of one? write 'R = ...' or 'R/T = ...'", 0)
        if not overs:
            return self.argument(tokens)
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
        return self.name(divisor)

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
            pairs = [n for n in free if re.fullmatch("[A-Za-z]{2}", n)]
            hint = f"; if {pairs[0]} is a product, write {' '.join(pairs[0])}" if pairs else ""
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
        return error_at(self.text, where if isinstance(where, int) else where.start, message)

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

    def product(self) -> dict:
        if self.now.kind == "sign":
            raise self.error("a rate has no sign; write what grows or shrinks, such as T^0.5 or T^-0.5")
        total, _ = self.factor()
        divided = None  # 1/T ln T: is ln T below or above? whether the divisor is a bare number
        while True:
            token = self.now
            beside = token.kind in _STARTS or (token.kind == "bar" and self.depth == 0)
            if not beside and token.kind not in ("times", "over"):
                return total
            if divided is not None and token.kind == "over":
                raise self.error("two divisions in a row; write brackets")
            if divided is not None and beside and not (divided and self.text[token.start - 1].isspace()):
                raise self.error("does this stand below the '/' or beside it? write brackets or *")
            if not beside:
                self.take()
            factor, number = self.factor()
            over = token.kind == "over"
            total, divided = _times(total, factor, -1 if over else 1), number if over else None

    def factor(self) -> tuple[dict, bool]:
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
        return _to_the(atom, power), False

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

    def atom(self) -> dict:
        token = self.take()
        match token.kind:
            case "decimal" | "vulgar":
                if not self.value(token):
                    raise self.error("0 is no rate", token)
                return {}
            case "name" | "dressed":
                return self.named(token)
            case "open" | "bar":
                return self.within(token, self.product)
            case "log":
                return self.logarithm(token)
            case "root":
                degree = {"∛": 3, "∜": 4, "cbrt": 3}.get(token.text) or int(re.sub(r"\D", "", token.text) or 2)
                if not degree:
                    raise self.error("there is no root of degree 0", token)
                return _to_the(self.atom(), Fraction(1, degree))
            case "frac":
                return _times(self.part(self.atom), self.part(self.atom), -1)
            case "soft" | "landau":
                self.soft, self.landau = self.soft or token.kind == "soft", True
                if self.now.kind != "open":
                    raise self.error(f"brackets are missing: {token.text.strip()}(T^0.5)")
                return self.atom()
            case "little":
                raise self.error("o and ω say less than a rate, which needs O, Θ or Ω; write the rate itself", token)
        self.at -= 1
        raise self.error(self.unexpected())

    def within(self, opened: Token, read):
        """What `read` finds between a bracket or a bar and the one that closes it."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.error("the brackets are nested too deeply", opened)
        inner = read()
        closing = self.now
        if opened.kind == "bar" and closing.kind != "bar":
            raise self.error("the bar | is not closed", opened)
        if closing.kind == "end":
            raise self.error(f"{opened.text!r} is not closed", opened)
        if opened.kind == "open" and closing.kind != "close":
            raise self.error(self.unexpected())
        if opened.kind == "open" and closing.text != _CLOSED_BY[opened.text]:
            raise self.error(f"{opened.text!r} is closed by {closing.text!r}")
        self.take()
        self.depth -= 1
        return inner

    def part(self, read):
        """A part of a LaTeX fraction: a group, or one digit as in \\frac12."""
        token = self.now
        if token.kind == "decimal" and token.text.isdigit() and len(token.text) > 1:
            rest = Token("decimal", token.text[1:], token.start + 1)
            self.tokens[self.at : self.at + 1] = [Token("decimal", token.text[0], token.start), rest]
        return read()

    def name(self, token: Token) -> str:
        name = unicodedata.normalize("NFKC", re.sub(rf"\\{DRESS}|[\\{{}}\s]", "", token.text))
        self.seen.setdefault(name, token.start)
        return name

    def named(self, token: Token) -> dict:
        name = self.name(token)
        if name in NO_RATES:
            raise self.error(f"{name} {NO_RATES[name]}", token)
        if re.search("^ln|log|sqrt", name.lower()):
            raise self.error(f"is there a logarithm or a root in {name}? write spaces and brackets, as in ln(T)", token)
        return {name: Fraction(1)}

    def logarithm(self, token: Token) -> dict:
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
        if any(isinstance(key, frozenset) for key in argument):
            raise self.error("the logarithm of a logarithm has no place in a rate; leave it out", token)
        return {frozenset(argument): power} if argument and power else {}

    # exponents

    def exponent(self) -> tuple[Fraction, str]:
        """Its value, and its text if it is a whole number without brackets."""
        token = self.take()
        if token.kind == "superscript":
            return self.superscript(token), ""
        start = self.now
        sign = self.sign()
        bare = self.now.kind == "decimal" and self.now.text.isdigit()
        value = sign * self.unit()
        return value, self.text[start.start : self.tokens[self.at - 1].end] if bare else ""

    def superscript(self, token: Token) -> Fraction:
        plain = "".join(SUPERSCRIPTS.get(sign, ".") for sign in token.text)
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
        total = self.sign() * self.term()
        while self.now.kind == "sign":
            total += self.sign() * self.term()
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
                value = self.value(token)
                mixed = token.text.isdigit() and self.now.kind == "vulgar"  # 1½
                return value + self.value(self.take()) if mixed else value
            case "vulgar":
                return self.value(token)
            case "open":
                return self.within(token, self.arithmetic)
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

    def value(self, token: Token) -> Fraction:
        if token.kind == "vulgar":
            return Fraction(unicodedata.normalize("NFKC", token.text).replace("⁄", "/"))
        _, _, ten = token.text.lower().partition("e")
        if abs(int(ten or 0)) > MOST_DIGITS:
            raise self.error("the number is too large or too small", token)
        return Fraction(token.text)

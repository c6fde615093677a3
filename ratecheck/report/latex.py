r"""verdicts.tex: the verdicts of a study as tables for a paper, which need \usepackage{booktabs} and \input alone."""

import unicodedata

from ..claims import Outcome
from ..display import absent, fixed, one_line
from .context import Context
from .verdicts import force as force_of

FILE = "verdicts.tex"
MOST_ROWS = 36  # of a table, which a page holds
SPECIAL = {c: f"\\{c}" for c in "{}$&#_%"}
SPECIAL |= {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\textless{}"}
SPECIAL |= {">": r"\textgreater{}", "|": r"\textbar{}", "`": r"\`{}", "[": "{[}", "]": "{]}"}  # \\[ would be an option
SPECIAL |= {"…": r"\ldots{}", "–": "--", "—": "---", "−": "$-$", "×": r"$\times$", "≤": r"$\leq$", "≥": r"$\geq$"}
GREEK = "alpha beta gamma delta epsilon zeta eta theta iota kappa mu nu xi pi rho sigma tau upsilon phi chi psi omega"
SPECIAL |= {unicodedata.lookup(f"GREEK SMALL LETTER {name.upper()}"): f"$\\{name}$" for name in GREEK.split()}
SPECIAL |= {"λ": r"$\lambda$"}
NOTHING = "--"
MARKS = {Outcome.CONSISTENT: "consistent", Outcome.REFUTED: "refuted", Outcome.INCONCLUSIVE: "inconclusive"}
FOLLOWS = {Outcome.CONSISTENT: "yes", Outcome.REFUTED: "no", Outcome.INCONCLUSIVE: "open"}


def verdicts_tex(context: Context) -> str:
    """All verdicts, with the parameters of the study as comments and in the captions."""
    every = [(result, judged) for result in context.analysis.results for judged in result.judged]
    parts = [every[i : i + MOST_ROWS] for i in range(0, len(every), MOST_ROWS)]
    lines = [f"% {line}" for line in ["Verdicts of ratecheck; needs \\usepackage{booktabs}", *parameters(context.info)]]
    for number, part in enumerate(parts, 1):
        lines += ["", *_table(context, part, number, len(parts))]
    return "\n".join(lines) + "\n"


def parameters(info) -> list[str]:
    """What determines the numbers, a line each: for comments, and for the metadata of figures."""
    facts = {"study": info.name, "command": info.command, **info.settings, "digest of the runs": info.digest}
    return [one_line(f"{key}: {value}") for key, value in facts.items()]


def escaped(text) -> str:
    """A text as TeX sets it, letter by letter."""
    return "".join(map(_letter, one_line(str(text))))


def _letter(c) -> str:
    if c in SPECIAL:
        return SPECIAL[c]
    name = unicodedata.name(c, "")
    accented = name.startswith("LATIN") and ord(c) < 0x180 and unicodedata.decomposition(c)[:1].isdigit()
    every_font_has_it = c.isascii() or (accented and "OGONEK" not in name)
    return c if every_font_has_it else f"{{[}}U+{ord(c):04X}{{]}}"


def _row(context, result, judged) -> list[str]:
    row, claim, case = context.row(result, judged), judged.claim, result.case
    bound = r"\geq" if claim.kind == "lower" else r"\leq"
    mark = r"$^{*}$" if claim.violated else ""
    found = result.agreement if claim.per_cost else None
    numbers = f"{fixed(row['slope'])}\\ [{fixed(row['low'])}, {fixed(row['high'])}]"
    return [
        *([escaped(case.family)] if context.several_families else []),
        str(case.dim),
        escaped(case.algorithm),
        escaped(claim.theorem) + mark,
        f"${bound} {fixed(claim.rate.slope)}$",
        NOTHING if absent(row["slope"]) else f"$({numbers})$" if _unjudged(result, judged) else f"${numbers}$",
        escaped(force_of(judged.assessment.exponent) or NOTHING),
        MARKS[judged.assessment.exponent.name],
        MARKS[judged.name] if claim.per_cost else NOTHING,
        NOTHING if found is None else f"{FOLLOWS[found.name]}, {found.ratio[0]:.3f}",
    ]


def _unjudged(result, judged) -> bool:
    return judged.claim.per_cost and bool(result.problem) and result.fit is not None


def _table(context, shown, number, count) -> list[str]:
    heads = ["family"] * context.several_families + ["$d$", "algorithm", "theorem", "promised", r"slope [95\,\%]"]
    heads += ["passes / caught", "exponent", "as printed", "follows curve"]
    columns = "l" * context.several_families + "r" + "l" * (len(heads) - 1 - context.several_families)
    return [
        r"\begin{table}[htbp]",
        r"\centering\footnotesize\setlength{\tabcolsep}{3pt}",
        f"\\caption{{{_caption(context, shown, number, count)}}}",
        f"\\label{{tab:ratecheck-{context.info.digest}{f'-{number}' if count > 1 else ''}}}",
        r"\makebox[\linewidth][c]{%",  # a wide table stands in both margins
        f"\\begin{{tabular}}{{@{{}}{columns}@{{}}}}",
        r"\toprule",
        f"{' & '.join(heads)} \\\\",
        r"\midrule",
        *(f"{' & '.join(_row(context, *case))} \\\\" for case in shown),
        r"\bottomrule",
        r"\end{tabular}}",
        r"\end{table}",
    ]


def _caption(context, shown, number, count) -> str:
    info = context.info
    part = f" ({number} of {count})" if count > 1 else ""
    settings = "; ".join(f"{escaped(key)}: {escaped(value)}" for key, value in info.settings.items())
    said = [
        f"Verdicts of the study {escaped(info.name)}{part}.",
        r"Slopes are exponents of $R$, the cumulative regret, after dividing out the promised power of $\ln T$.",
        "Passes: the worst pure power that could have been consistent; caught: those that surely are not.",
        "As printed: the verdict on exponent and printed power of $\\ln T$ together.",
        "Follows curve: whether the runs follow the predicted curve, and their ratio to it.",
    ]
    if any(_unjudged(result, judged) for result, judged in shown):
        said.append("A slope in round brackets comes from a window that allows no verdict.")
    if any(judged.claim.violated for _, judged in shown):
        said.append(r"$^{*}$~A hypothesis of the theorem is not met: the verdict is on its rate.")
    said += [f"{settings}.", rf"Run by \texttt{{{escaped(info.command)}}}; digest of the runs {escaped(info.digest)}."]
    return " ".join(said)

"""Every public name explains itself: a sentence, and an example that runs, there or in the README, or a pointer."""

import ast
import inspect
import pydoc
import re
import textwrap
import warnings
from pathlib import Path

import pytest

import function_zoo as zoo
import ratecheck as rc
from tests.strategies import RandomSearch

PUBLIC = [(module, name) for module in (rc, zoo) for name in module.__all__ if not name.startswith("theorem")]
README = "".join(  # their examples run too
    (Path(__file__).parents[1] / page).read_text("utf-8")
    for page in ("README.md", "ratecheck/README.md", "function_zoo/README.md")
)
MODULES = {"rc": rc, "zoo": zoo, "Rate": rc.Rate, "RandomSearch": RandomSearch}


@pytest.fixture(scope="module")
def around():
    """What the examples take for granted."""
    cost = zoo.get("cone", dim=1)
    horizons = [2**k for k in range(8, 15)]
    runs = rc.simulate(rc.AdaptiveBins(), cost, horizons, replicates=8)
    fit = rc.fit_rate(runs)
    other = rc.fit_rate(rc.simulate(rc.UniformBins(), cost, horizons, replicates=8))
    return MODULES | {"cost": cost, "runs": runs, "fit": fit, "other": other}


def examples(doc) -> list[str]:
    """The indented parts of a docstring that are Python."""
    parts = re.findall(r"(?:^    .*\n?)+", doc, re.MULTILINE)
    found = []
    for part in parts:
        code = re.sub(r"\)  +Rate\.", ")\nRate.", textwrap.dedent(part))  # two in a line
        try:
            names = {node.id for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Name)}
        except SyntaxError:
            continue
        if names & set(MODULES) or "import" in code:
            found.append(code)
    return found


@pytest.mark.parametrize(("module", "name"), PUBLIC, ids=[f"{m.__name__}.{n}" for m, n in PUBLIC])
def test_a_docstring_has_an_example_that_runs_or_a_pointer(module, name, around):
    doc = inspect.getdoc(getattr(module, name))
    assert re.match(r"[^.:]+[.:]", doc)
    found = examples(doc)
    assert found or re.search(r"[Ss]ee `\w+`", doc) or re.search(rf"\b(rc|zoo)\.{name}\(", README), doc
    for code in found:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Õ hides")
            exec(compile(code, f"docstring of {name}", "exec"), dict(around))


@pytest.mark.parametrize("method", [rc.Rate.parse, rc.Rate.of_regret, rc.Rate.written])
def test_the_ways_to_write_a_rate_are_explained(method, around):
    doc = inspect.getdoc(method)
    for code in [*examples(doc), *re.findall(r"`(Rate\..*?)` is", doc)]:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Õ hides")
            exec(code, dict(around))
    assert "Rate." in doc


def test_help_reads_well():
    """All public names are listed, and what is an exponent is said to be one of R."""
    text = pydoc.render_doc(rc.fit_rate, renderer=pydoc.plaintext)
    assert "exponent of R" in text
    assert "fit.plot(" in text
    text = pydoc.render_doc(rc.Rate, renderer=pydoc.plaintext)
    assert "the exponent is that of the decay of R / T" in text
    front = inspect.getdoc(rc)
    for name in ("simulate", "fit_rate", "verdict", "Rate.parse", "theorem2"):
        assert name in front
    exec("\n".join(examples(front)), {})

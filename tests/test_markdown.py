"""Words, numbers and formulas."""

import pytest

from ratecheck.markdown import among, formula, fraction, general, listing, table, thousands
from ratecheck.rates import Rate
from ratecheck.report.page import to_html


def test_formulas():
    assert formula(Rate(0.5, 1.5)) == r"$T^{1/2} (\ln T)^{3/2}$"
    assert formula(Rate(1 / 3, 1)) == r"$T^{2/3} (\ln T)$"
    assert formula(Rate(0.25)) == r"$T^{3/4}$"
    assert fraction(0.1234567) == "0.123"
    assert to_html(r"T^{1/2} (\ln T)^{3/2}") == "<i>T</i><sup>1/2</sup> (ln <i>T</i>)<sup>3/2</sup>"
    assert to_html(r"\ge") == "≥"
    with pytest.raises(ValueError, match="frac"):
        to_html(r"\frac12")


def test_counts_of_cases():
    assert [among(n, 1) for n in (0, 1)] == ["in no case (of one)", "in the one case"]
    assert [among(n, 2, "with β > 1") for n in range(3)] == [
        "in neither case with β > 1",
        "in 1 of 2 cases with β > 1",
        "in both cases with β > 1",
    ]
    assert [among(n, 3) for n in (0, 2, 3)] == ["in none of the 3 cases", "in 2 of 3 cases", "in all 3 cases"]
    assert thousands(2309368) == "2,309,368"


def test_words():
    assert listing(["a"]) == "a"
    assert listing("abc") == "a, b and c"
    assert listing("abcdefgh", most=2) == "a, b and 6 more"
    assert general(1468.9, 3) == "1470"
    assert general(1.5e9, 3) == "1.5e+09"
    assert table(["x|y"], [[None]]) == "| x\\|y |\n| --- |\n| – |"

"""Words, numbers and formulas."""

import html

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ratecheck.display import (
    among,
    escaped,
    fenced,
    formula,
    fraction,
    general,
    listing,
    one_line,
    table,
    thousands,
)
from ratecheck.rates import Rate


def test_formulas():
    assert formula(Rate(0.5, 1.5)) == r"$T^{1/2} (\ln T)^{3/2}$"
    assert formula(Rate(1 / 3, 1)) == r"$T^{2/3} (\ln T)$"
    assert formula(Rate(0.25)) == r"$T^{3/4}$"
    assert fraction(0.1234567) == "0.123"


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


@pytest.mark.parametrize(
    "text",
    [
        "cusp(power=0.7)",
        "AdaptiveBins(mu=30)",
        "six_hump_camel",
        "d = 1",
        "slope 0.500 [0.485, 0.515] against 0.500: no more than 0.05 above it",
        "holds as (c'), for a^alpha <= epsilon; the proofs use no more",
        "Theorem 2, α0 < α",
        "R > 1, 5 % and T^(-1/2) + 1.5e+04",
        "Does it hold? It's #1!",
    ],
)
def test_ordinary_texts_are_plain(text):
    assert escaped(text) == text


NASTY = st.text(
    st.sampled_from("ab1 \t\n\r\\`*_~$[]()!<>&#;:/|.-+='\"@%\x00\ud800\u2028é") | st.characters(), max_size=30
)
GITHUB = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


@given(NASTY)
@example("https://example.org www.example.org &#60; [1](x) [1]: x")
def test_a_plain_text_is_itself_wherever_it_stands(text):
    said, shown = escaped(text), html.escape(one_line(text), quote=False).replace('"', "&quot;")
    assert html.unescape(said) == one_line(text)
    assert "://" not in said
    if shown:
        assert GITHUB.render(f"- {said}") == f"<ul>\n<li>{shown}</li>\n</ul>\n"
        assert GITHUB.render(f"{said}: x") == f"<p>{shown}: x</p>\n"
        assert f"<th>{shown}</th>" in GITHUB.render(table([said, "x"], []))


@given(NASTY)
def test_code_stays_in_its_fence(text):
    (token,) = GITHUB.parse(fenced(text, "sh"))
    assert (token.type, token.info) == ("fence", "sh")

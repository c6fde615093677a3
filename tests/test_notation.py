r"""Rates as people write them: what is understood, what is refused and where."""

import math
import warnings
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ratecheck as rc
from ratecheck.notation import LONGEST, read

UNDERSTOOD = {
    # plain
    "T^0.5 log(T)^1.5": ("1/2", "3/2"),
    "sqrt(T) ln T": ("1/2", 1),
    "sqrt(T ln T)": ("1/2", "1/2"),
    "sqrt T": ("1/2", 0),
    "T^(2/3) (ln T)^(1/3)": ("2/3", "1/3"),
    "T**0.5 * log(T)**2": ("1/2", 2),
    "T ^ 0.5": ("1/2", 0),
    "T^.5": ("1/2", 0),
    "T^5e-1": ("1/2", 0),
    "T^(1 - 1/3)": ("2/3", 0),
    "T^-(1/2)": ("-1/2", 0),
    "T^+0.5": ("1/2", 0),
    "(T ln T)^(2/3)": ("2/3", "2/3"),
    "T / ln T": (1, -1),
    "1/(T ln T)": (-1, -1),
    "T^0.5 ln T / sqrt(T)": (0, 1),
    "T": (1, 0),
    "ln T": (0, 1),
    "T ln T": (1, 1),
    "T(ln T)": (1, 1),
    "TlnT": (1, 1),
    "lnT sqrtT": ("1/2", 1),
    "log^2 T": (0, 2),
    "ln(T)^2": (0, 2),
    "log^1.5(T)": (0, "3/2"),
    "ln T ln T": (0, 2),
    "ln(T^2)": (0, 1),
    "ln sqrt(T)": (0, 1),
    "cbrt(T)": ("1/3", 0),
    "O(1)": (0, 0),
    "[T]^{0.25}": ("1/4", 0),
    # bases and constants do not count
    "log_2 T": (0, 1),
    "log2(T)": (0, 1),
    "log10(T)^2": (0, 2),
    "log₂ T": (0, 1),
    "lg T": (0, 1),
    "5 T^0.5": ("1/2", 0),
    "5T^0.5": ("1/2", 0),
    "2/3 T": (1, 0),
    "T^(2/3)/2": ("2/3", 0),
    "C T^0.5": ("1/2", 0),
    "const * T^0.5": ("1/2", 0),
    "sqrt(d T)": ("1/2", 0),
    "sqrt(KT ln T)": ("1/2", "1/2"),
    "10^3 T^0.5": ("1/2", 0),
    "Log(T) SQRT(T)": ("1/2", 1),
    "ln(T/δ) sqrt(T)": ("1/2", 1),
    "π e T": (1, 0),
    # a left side
    "R = T^0.5": ("1/2", 0),
    "R_T <= T^0.5": ("1/2", 0),
    "regret ~ T^0.5": ("1/2", 0),
    "E R(T) = T^0.5": ("1/2", 0),
    "E[R_T] ≤ C T^0.5": ("1/2", 0),
    "R(T) = O(sqrt(T) log T)": ("1/2", 1),
    "R ∈ Θ(sqrt(T))": ("1/2", 0),
    "Omega(T^0.5)": ("1/2", 0),
    "~ T^0.5": ("1/2", 0),
    "R = O(1)": (0, 0),
    # Unicode
    "T^½": ("1/2", 0),
    "T^1½": ("3/2", 0),
    "√T": ("1/2", 0),
    "√(T ln T)": ("1/2", "1/2"),
    "∛T": ("1/3", 0),
    "T²": (2, 0),
    "log² T": (0, 2),
    "(ln T)²": (0, 2),
    "T^0.5·ln T": ("1/2", 1),
    "T × ln T": (1, 1),
    "T^−0.5": ("-1/2", 0),
    "T⁻¹ᐟ²": ("-1/2", 0),
    "T⁰·⁵": ("1/2", 0),
    "𝑇^0.5": ("1/2", 0),
    # LaTeX
    r"T^{2/3} (\ln T)^{1/3}": ("2/3", "1/3"),
    r"\sqrt{T \log T}": ("1/2", "1/2"),
    r"\sqrt T": ("1/2", 0),
    r"\sqrt[3]{T}": ("1/3", 0),
    r"\mathcal{O}(T^{2/3})": ("2/3", 0),
    r"\mathcal O\left(T^{2/3}\right)": ("2/3", 0),
    r"\Theta(T)": (1, 0),
    r"T^\frac{2}{3}": ("2/3", 0),
    r"T^\frac23": ("2/3", 0),
    r"\frac{1}{\sqrt{T}}": ("-1/2", 0),
    r"$T^{1/2} \cdot \log^{2} T$": ("1/2", 2),
    r"R_T \le C \, T^{1/2}": ("1/2", 0),
    r"\mathbb{E}[R_T] \lesssim \sqrt{d T \log T}": ("1/2", "1/2"),
    r"\mathrm{Reg}_T = O(\sqrt{T})": ("1/2", 0),
    r"\log_{10} T": (0, 1),
}
PER_STEP = {
    "R/T = T^(-1/2)": ("1/2", 0),
    "R/T ≤ C T^(-1/2) ln T": ("1/2", 1),
    "R(T)/T = O(1/sqrt(T))": ("1/2", 0),
    "R_n / n = n^-0.5": ("1/2", 0),
    r"\frac{R_T}{T} = T^{-1/2}": ("1/2", 0),
    r"\frac{R(T)}{T} \leq T^{-1/3} (\ln T)^2": ("1/3", 2),
    "R/T = 1": (0, 0),
}

IN_OTHER_LETTERS = {
    "N^-0.34": ("N", "-17/50", 0),
    "1/sqrt(n)": ("n", "-1/2", 0),
    "1/t": ("t", -1, 0),
    "h^2": ("h", 2, 0),
    "error <= C h^2": ("h", 2, 0),
    "h^2 |ln h|": ("h", 2, 1),
    r"\|u - u_h\| \le C h^2": ("h", 2, 0),
    "L - E = A N^-0.34": ("N", "-17/50", 0),
    "h^2 ln(1/h)": ("h", 2, 1),
    "horizon^0.5": ("horizon", "1/2", 0),
    "nlogn": ("n", 1, 1),
    "C^-0.05": ("C", "-1/20", 0),
    "ε^-2": ("ε", -2, 0),
}

SOFT = (r"\tilde O(T^{1/2})", r"\tilde{O}(\sqrt T)", r"\widetilde{\mathcal{O}}(\sqrt{T})", "Õ(T^½)", "R = O~(T^0.5)")

REFUSED = {
    "": "is empty",
    "   ": "is empty",
    "T^{1-\\alpha/D}": r"T^{1- here --> \alpha/D}': the exponent is no number",
    "T^α": "T^ here --> α",
    "T^T": "no number",
    "T^nan": "no number",
    "T^(ln 2)": "no number",
    "log log T": "logarithm of a logarithm",
    "ln(ln T)": "logarithm of a logarithm",
    r"\log\log T": "logarithm of a logarithm",
    "loglog T": "logarithm of a logarithm",
    r"\log^{(2)} T": "iterated",
    "ln(T ln T)": "logarithm of a logarithm",
    "2^T": "exponential",
    "exp(T)": "exponential",
    "e^{-T}": "exponential",
    "T^0.5 + ln T": "T^0.5 here --> + ln T': a sum is no single power; take the leading term",
    "sqrt(T) - 1": "take the leading term",
    "ln(1 + T)": "take the leading term",
    "T^0.5 n^0.2": "two variables, T and n",
    "T ln n": "two variables, T and n",
    "R/T = N^-0.5": "two variables, T and N",
    "R(n) = T^0.5": "two variables, n and T",
    "sqrt(mT) ln T": "write m T",
    "T^0.5 for all T": "two variables",
    "T^1/2": "write T^(1/2)",
    "T^-1/2": "write T^(-1/2)",
    "ln T^2": "is it (ln T)^… or ln(T^…)",
    "ln 2T": "how far",
    "1/T ln T": "below the '/' or beside it",
    "1/2T": "below the '/' or beside it",
    "1/T/T": "brackets",
    "T^2^3": "two exponents",
    "T^": "an exponent is expected",
    "T^()": "an exponent is expected",
    "T^--2": "two signs",
    "^2": "not expected",
    "T^(1/2": "'(' is not closed",
    "T)": "closes nothing",
    "T^[1/2)": "closed by ')'",
    "|ln T": "not closed",
    "T^(1/0)": "division by 0",
    "0.5": "number alone is no rate; write T^0.5",
    "1": "number alone is no rate",
    "0 T": "0 is no rate",
    "C": "is C a constant?",
    "-T^0.5": "no sign",
    "T2": "write ^ before an exponent",
    "T0.5": "write ^ before an exponent",
    "T^0,5": "decimal point",
    "T^1e999": "too large",
    "T^1e200000000": "too large",
    "o(T)": "say less than a rate",
    "polylog(T)": "which power of ln T",
    "max(T)": "take the larger",
    r"T^{1/2} \mathrm{polylog}(T)": "which power of ln T",
    "2^{-T/5}": "exponential",
    "ln": "ends too early",
    "TlogTlogT": "write spaces",
    r"\logn": "write spaces",
    "T^0.5½": "a number cannot follow",
    "log* T": "no argument",
    "R =": "ends too early",
    "T*": "ends too early",
    "T^0.5 = R": "powers stand on the right",
    "log R = 0.5 log T": "the quantity itself",
    "0 <= R <= T": "two relations",
    "average regret = T^-0.5": "'R = ...' or 'R/T = ...'",
    "R/T/T = 1": "one division",
    "T!": "'!' is not understood",
    "T^(1/2) €": "not understood",
    "(" * 30 + "T" + ")" * 30: "nested too deeply",
    "T" * (LONGEST + 1): "characters",
}


def test_the_tables_are_long_enough():
    assert len(UNDERSTOOD) + len(PER_STEP) + len(IN_OTHER_LETTERS) >= 60
    assert len(REFUSED) >= 40


@pytest.mark.parametrize("text", UNDERSTOOD)
def test_a_rate_of_the_regret_is_understood(text):
    slope, log_power = map(Fraction, UNDERSTOOD[text])
    assert rc.Rate.parse(text) == rc.Rate.of_regret(float(slope), float(log_power))


@pytest.mark.parametrize("text", PER_STEP)
def test_a_rate_per_step_is_understood(text):
    exponent, log_power = map(Fraction, PER_STEP[text])
    assert rc.Rate.parse(text) == rc.Rate(float(exponent), float(log_power))


@pytest.mark.parametrize("text", IN_OTHER_LETTERS)
def test_any_letter_or_word_may_be_the_variable(text):
    variable, power, log_power = IN_OTHER_LETTERS[text]
    found = read(text)
    assert (found.variable, found.power, found.log_power) == (variable, Fraction(power), log_power)


@pytest.mark.parametrize("text", SOFT)
def test_a_soft_o_is_taken_as_written_with_a_warning(text):
    with pytest.warns(UserWarning, match="Õ hides powers of ln T"):
        assert rc.Rate.parse(text) == rc.Rate.of_regret(0.5)
    assert read(text).remark


@pytest.mark.parametrize("text", REFUSED)
def test_a_refusal_is_one_line_that_shows_the_place(text):
    with pytest.raises(ValueError, match="rate") as caught:
        rc.Rate.parse(text)
    message = str(caught.value)
    assert REFUSED[text] in message
    assert "\n" not in message
    assert "here -->" in message or not text.strip() or len(text) > LONGEST


@pytest.mark.parametrize("given", [None, 0.5, ["T"], b"T^0.5"])
def test_what_is_no_text_is_refused(given):
    with pytest.raises(ValueError, match="must be a text such as"):
        rc.Rate.parse(given)


def test_two_thirds_is_what_python_has_for_it():
    assert rc.Rate.parse("T^(2/3)").slope == 2 / 3
    assert rc.Rate.parse("R/T = T^(-1/3)").exponent == 1 / 3


def test_a_line_break_stays_out_of_the_message():
    with pytest.raises(ValueError, match="sum") as caught:
        rc.Rate.parse("T^0.5\n + 1")
    assert "\n" not in str(caught.value)


NUMBERS = st.floats(-20, 20).map(lambda x: float(f"{x:.3g}"))


@given(slope=NUMBERS, log_power=NUMBERS, x=st.sampled_from(["T", "n", "N", "h", "steps"]), y=st.sampled_from("RLe"))
def test_what_is_printed_is_understood(slope, log_power, x, y):
    rate = rc.Rate.of_regret(slope, log_power)
    for text in (str(rate), rate.written(x, y), rate.written(x)):
        again = rc.Rate.parse(text)
        assert math.isclose(again.slope, slope, rel_tol=1e-3, abs_tol=1e-12)
        assert again.log_power == log_power


@given(st.text(alphabet="TnCR^()/{}\\ lnogsqrt0.5+-*=~|½²√,", max_size=25))
def test_any_text_is_a_rate_or_a_sentence(text):
    refusal = ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            assert math.isfinite(rc.Rate.parse(text).slope)
        except ValueError as error:
            refusal = str(error)
    assert "\n" not in refusal


def test_a_rate_says_of_what_it_is_the_exponent():
    rate = rc.Rate(0.5, 1)
    assert str(rate) == "R = T^0.5 (ln T)^1"
    assert repr(rate) == "Rate(exponent=0.5, log_power=1): R = T^0.5 (ln T)^1, R/T = T^-0.5 (ln T)^1"
    assert repr(rc.Rate(0.0)).endswith("R = T^1, R/T = T^0")
    assert rc.Rate.of_regret(-0.5).written("N", "error") == "error = N^-0.5"

"""Tables from anywhere: forms, columns by usual names, what is inferred and said, and mistakes."""

import io

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import ratecheck as rc
from ratecheck.fit.log_means import FitError
from ratecheck.fit.read import half_units, number, table_of
from studies.calibration.scenarios import CLAIM, HORIZONS, blocks
from tests.synthetic import table

N = 2.0 ** np.arange(3, 11)
R = blocks(np.random.default_rng(0), CLAIM.regret(HORIZONS), 12)
RUNS = table(R)


def said(fit):
    return " | ".join(fit.remarks)


@pytest.mark.parametrize(
    "names",
    [
        {"replicate": "seed", "horizon": "T", "regret": "Regret"},
        {"replicate": "Run", "horizon": "n_samples", "regret": "test_loss"},
        {"replicate": "trial", "horizon": "Iterations", "regret": "L2 error"},
        {"replicate": "rep", "horizon": "N", "regret": "mean regret"},
    ],
    ids=lambda names: names["horizon"],
)
def test_usual_names_are_found_and_runs_that_are_seen_twice_are_one_run(names):
    fit = rc.fit_rate(RUNS.drop(columns="anytime").rename(columns=names))
    assert fit.whole == rc.fit_rate(RUNS).whole
    assert f"x is {names['horizon']!r}; y is {names['regret']!r}; the run is {names['replicate']!r}" in said(fit)
    assert "12 runs, each seen at all 12 values" in said(fit)
    assert "anytime=False" in said(fit)
    apart = rc.fit_rate(RUNS.drop(columns="anytime").rename(columns=names), anytime=False)
    assert apart.whole == rc.fit_rate(table(R, anytime=False)).whole


def test_runs_that_are_never_seen_twice_are_separate():
    t = RUNS.drop(columns="anytime").assign(replicate=np.arange(len(RUNS)))
    assert not rc.fit_rate(t).data.anytime
    assert rc.fit_rate(t.drop(columns="replicate")).whole == rc.fit_rate(t).whole


def test_runs_that_are_missing_somewhere_are_left_out_and_that_is_said():
    t = RUNS.drop(columns="anytime")
    fit = rc.fit_rate(t.iloc[1:])
    assert fit.data.replicates == 11
    assert "runs that are missing at some horizon are left out: 1" in said(fit)
    with pytest.raises(FitError, match="missing at some horizon"):
        rc.fit_rate(t[(t.replicate < 2) | (t.horizon == HORIZONS[0])])


def forms():
    x, y = N, 3 * N**-0.5
    rows = list(zip(x.tolist(), y.tolist(), strict=True))
    csv = "N,error\n" + "\n".join(f"{a},{b}" for a, b in rows)
    yield "frame", pd.DataFrame({"N": x, "error": y})
    yield "dict", {"N": x, "error": y}
    yield "records", [{"N": a, "error": b} for a, b in rows]
    yield "array", np.column_stack([x, y])
    yield "pairs", rows
    yield "structured", np.array(rows, dtype=[("N", float), ("error", float)])
    yield "csv", io.StringIO(csv)
    yield "bytes", io.BytesIO(b"\xef\xbb\xbf" + csv.encode())
    yield "comments", io.StringIO("# made by hand\n" + csv.replace("\n", "\n# nothing\n", 1))
    yield "tabs", io.StringIO(csv.replace(",", "\t"))
    yield "semicolons, decimal commas", io.StringIO(csv.replace(",", ";").replace(".", ","))
    yield "spaces, named in a comment", io.StringIO("# " + csv.replace(",", " "))
    yield "spaces, no names", io.StringIO(csv.replace(",", " ").split("\n", 1)[1])
    yield "index", pd.DataFrame({"error": y}, index=pd.Index(x, name="N"))
    yield "series", pd.Series(y, index=pd.Index(x, name="N"), name="error")
    yield "texts", {"N": [f"{a:,.0f}" for a in x], "error": [str(b) for b in y]}
    yield "markdown", io.StringIO("Table 1\n\n|N|error|\n|--|:-:|\n" + "\n".join(f"| {a} | **{b}** |" for a, b in rows))
    cells = "\\\\\n".join(f"${a * 1e-3} \\times 10^{{3}}$ & \\textbf{{{b}}}" for a, b in rows)
    yield (
        "LaTeX",
        io.StringIO(f"\\begin{{tabular}}{{lr}}\n\\toprule $N$ & error \\\\ \\midrule\n{cells}\\\\ \\bottomrule\n"),
    )
    yield "thousands", io.StringIO("N;error\n" + "\n".join(f"{a:,.0f};{b}" for a, b in rows))
    yield "thousands, quoted", io.StringIO("N,error\n" + "\n".join(f'"{a:,.0f}",{b}' for a, b in rows))
    yield "suffixes", io.StringIO("N,error\n" + "\n".join(f"{a}k,{b}" for a, b in rows))
    yield "powers and fractions", io.StringIO("N,error\n" + "\n".join(f"2^{k},{b}" for k, (_, b) in enumerate(rows, 3)))


@pytest.mark.parametrize("source", [pytest.param(form, id=name) for name, form in forms()])
def test_every_form_gives_the_same_slope(source):
    fit = rc.fit_rate(source)
    assert fit.slope == pytest.approx(-0.5, abs=1e-9)
    assert fit.low < fit.slope < fit.high


def test_files(tmp_path):
    t = RUNS.drop(columns="anytime")
    t.to_csv(tmp_path / "a.csv", index=False)
    assert rc.fit_rate(tmp_path / "a.csv").slope == pytest.approx(rc.fit_rate(RUNS).slope)
    (tmp_path / "b.xlsx").write_bytes(b"PK\x03\x04 and so on")
    (tmp_path / "c.parquet").write_bytes(b"PAR1 and so on")
    by_csv = "save the table as CSV"
    for path, words in (("none.csv", "no file"), ("", "folder"), ("b.xlsx", by_csv), ("c.parquet", by_csv)):
        with pytest.raises(ValueError, match=words):
            rc.fit_rate(tmp_path / path)


def test_wide_tables():
    per_run = pd.DataFrame({"T": HORIZONS} | {f"seed_{i}": row for i, row in enumerate(R)})
    per_horizon = pd.DataFrame(R, columns=[f"{int(t)}" for t in HORIZONS])
    pivot = pd.DataFrame({"T": HORIZONS} | dict(enumerate(R)))
    for wide, words in (
        (per_run, "one run each"),
        (per_horizon, "a row as a run"),
        (per_horizon.assign(seed=range(len(R))), "a row as a run"),
        (pivot, "12 columns named by numbers are taken as one run each"),
        (pivot.rename(columns={"T": "Unnamed: 0"}), "one run each"),
    ):
        fit = rc.fit_rate(wide)
        assert fit.whole.value == pytest.approx(rc.fit_rate(RUNS).whole.value)
        assert fit.whole.se == pytest.approx(rc.fit_rate(RUNS).whole.se)
        assert words in said(fit)
    algorithms = per_horizon.iloc[:3].assign(algorithm=["UCB", "TS", "greedy"])
    with pytest.raises(FitError, match=r"several algorithm .UCB, TS, greedy"):
        rc.fit_rate(algorithms)
    assert rc.fit_rate(algorithms, where={"algorithm": "UCB"}).data.source == "series"


@pytest.mark.parametrize(
    ("source", "options", "words"),
    [
        ({"N": N, "T": N, "error": N}, {}, "N, T could each be x.*--x NAME"),
        ({"N": N, "error": N, "loss": N}, {}, "error, loss could each be y.*--error NAME"),
        ({"N": N, "error": N}, {"x": "n"}, None),
        ({"N": N, "error": N}, {"y": "eror"}, "did you mean error"),
        ({"a": N, "b": N, "c": N}, {}, "no column is known to be x"),
        ({"N": N, "error": N}, {"x": "N", "y": "N"}, "two things at once"),
        ({"N": N, "error": N, "algorithm": ["UCB", "TS"] * 4}, {}, "several algorithm .UCB, TS.*--where algorithm=UCB"),
        ({"N": N, "error": N}, {"where": {"N": 9}}, "no row has N = 9"),
        ({"N": N, "error": N}, {"where": {"M": 9}}, "no column 'M'"),
        ({"N": N, "mean": N, "sd": 0 * N + 1}, {}, "need the number of runs"),
        ({"N": N, "mean": N, "se": 0 * N}, {}, "zero throughout"),
        ({"N": N, "mean": N, "se": -N}, {}, "never negative"),
        ({"N": N, "mean": N, "low": N + 1, "high": N + 2}, {}, "mean 8 does not lie between low = 9 and high = 10"),
        ({"N": N, "mean": N, "a": N, "b": N}, {"error": "a", "half_width": "b"}, "give one of them"),
        ({"N": N, "mean": N, "a": N}, {"half_width": ["a", "a", "a"]}, "must be a column, or two"),
        ({"N": [*N, 8], "mean": [*N, 8], "se": 9 * [1.0]}, {}, "appears twice"),
        ({"N": 2 * [*N], "error": [*N, *(2 * N)]}, {}, "2 run.s. at some N give no interval"),
        ({"N": 4 * [*N], "error": 4 * [*N], "dim": 16 * [1] + 16 * [2]}, {}, "several dim"),
        ({"N": 4 * [*N], "error": 4 * [*N], "k": 16 * [1] + 16 * [2]}, {}, "does it name the runs"),
        ({"N": 4 * [*N], "error": np.arange(1, 33), "seed": 0}, {}, "appears twice"),
        ({"N": N, "error": [*N[:-1], np.nan]}, {}, "not finite, the first at N = 1024"),
        ({"N": -N, "error": N}, {}, "not positive"),
        ({"N": N[:2], "error": N[:2]}, {}, "at least 3 are needed"),
        ({"N": N, "error": N}, {"anytime": "yes"}, "must be True, False or None"),
        ({"N": N, "error": N}, {"anytime": True}, "need a column"),
        ({"N": N, "error": ["a"] * 8}, {}, "column 'error' must hold numbers, and row 1 of the data has 'a'"),
        ({"N": N, "error": ["1.2 ± 0.1"] * 8}, {}, "into a column of its own: se, sd or half_width"),
        ({"N": N, "error": ["1.2(3)"] * 8}, {"y": "error"}, "into a column of its own: se, sd or half_width"),
        ({"log N": N, "error": N}, {}, "to which base. call it ln N, log2 N or log10 N"),
        ({"N": N, "log_regret": N}, {}, "to which base"),
        ({"N": N, "ln error": N, "se": N}, {}, "without them"),
        (io.StringIO('N,error\n8,"' + "1" * 200_000), {}, "cannot be read as lines of columns"),
        (io.StringIO("N,error\n" + "1," * 600_000), {}, "line 2 of .* has 1200000 characters"),
        ({"N": N, "error": N}, {"x": ["N"]}, "name of one column"),
        ({"N": N, "error": N}, {"where": "N=8"}, "must be a dict"),
        ({"N": N, "error": N * 1e-300}, {}, "too small to reckon with"),
        ({"N": [*N, 8], "error": [*N, 8], "seed": 0}, {}, "rows are there twice, the first at N = 8"),
        ({"N": N, "error": N * 1e300}, {}, "another unit"),
        (3.0, {}, "is no table"),
        (np.ones((4, 5)), {}, "no table; two columns"),
        (io.StringIO("N,error\n10,0,5\n20,0,3"), {}, "line 2 .* decimal comma"),
        (io.StringIO("N,N\n10,5\n20,3"), {}, "two columns 'N'"),
        (io.StringIO("# nothing"), {}, "nothing but comments"),
        (io.StringIO("{broken"), {}, "looks like JSON"),
    ],
)
def test_mistakes_get_one_sentence(source, options, words):
    if words is None:
        rc.fit_rate(source, **options)
        return
    with pytest.raises(ValueError, match=words) as caught:
        rc.fit_rate(source, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "names", [("log10 N", "log10(error)", 10.0), ("ln N", "ln_error", np.e), ("log_2 N", "error", 2)]
)
def test_columns_of_logarithms_are_undone(names):
    x, y, base = names
    errors = 3 * N**-0.5
    source = {x: np.log(N) / np.log(base), y: np.log(errors) / np.log(base) if y != "error" else errors}
    fit = rc.fit_rate(source)
    assert fit.slope == pytest.approx(-0.5)
    assert f"column {x!r} holds logarithms by its name: they are undone" in said(fit)
    assert str(fit).splitlines()[0].endswith("error = N^-0.5")


def test_a_log_loss_is_taken_as_it_is():
    assert rc.fit_rate({"N": N, "log_loss": 3 * N**-0.5}).slope == pytest.approx(-0.5)


def test_digits_of_logarithms_count():
    rows = "\n".join(f"{k},{-0.5 * k:.2f}" for k in range(3, 11))
    (remark,) = [r for r in rc.fit_rate(io.StringIO(f"log10 N,log10 error\n{rows}")).remarks if "last digit" in r]
    assert "1.2 % at most" in remark  # 0.005 ln 10


def test_runs_that_agree_are_one_series():
    errors = N**-0.5 * (1 + 2 * N**-0.5)
    alone = rc.fit_rate({"N": N, "error": errors})
    for runs in ({"seed": np.repeat(range(5), 8)}, {}):
        fit = rc.fit_rate({"N": np.tile(N, 5), "error": np.tile(errors, 5)} | runs)
        assert fit.whole == alone.whole
        assert "all runs agree to the last digit at every N" in said(fit)


def test_several_curves_are_picked_by_where():
    both = pd.concat([RUNS.assign(algorithm="a"), RUNS.assign(algorithm="b", regret=RUNS.regret * RUNS.horizon)])
    both = both.drop(columns="anytime")
    slope = rc.fit_rate(RUNS).slope
    assert rc.fit_rate(both, where={"algorithm": "a"}).slope == pytest.approx(slope)
    assert rc.fit_rate(both, where={"Algorithm": "b"}).slope == pytest.approx(slope + 1)


def test_means_with_errors_against_theory():
    """Weighted sums of independent means: the variance of a slope is a sum of squares."""
    errors = 0.05 * N**0.5
    t = {"N": N, "mean": 3 * N**0.5, "stderr": errors}
    x = np.log(N) - np.log(N).mean()
    se = np.sqrt(np.sum((x / (x @ x)) ** 2 * (errors / t["mean"]) ** 2))
    fit = rc.fit_rate(t)
    assert fit.whole.se == pytest.approx(se)
    assert fit.high - fit.slope == pytest.approx(1.959964 * se, rel=1e-5)
    assert "is not known" in said(fit)
    counted = rc.fit_rate(t | {"runs": 8 * [5]})
    assert counted.high - counted.slope == pytest.approx(2.776445 * se, rel=1e-5)
    deviations = {"N": N, "mean": t["mean"], "std": errors * np.sqrt(5)}
    assert rc.fit_rate(deviations, count=5).whole.se == pytest.approx(se)
    vague = rc.fit_rate({"N": N, "mean": 3 * N**0.5, "stderr": 4 * errors})
    assert "times smaller would do" in rc.tight(vague, rc.Rate.of_regret(0.5)).reason


@pytest.mark.parametrize("count", [None, 9])
def test_widths_of_intervals_against_their_standard_errors(count):
    means, errors = 3 * N**-0.5, 0.1 * N**-0.5
    reach = stats.norm.ppf(0.975) if count is None else stats.t.ppf(0.975, count - 1)
    expected = rc.fit_rate({"N": N, "error": means, "se": errors}, count=count).whole
    wide = reach * errors
    ninety = errors * (stats.norm.ppf(0.95) if count is None else stats.t.ppf(0.95, count - 1))
    for columns, options in (
        ({"ci": wide}, {}),
        ({"error_ci90": ninety}, {}),
        ({"bar": wide}, {"half_width": "bar"}),
        ({"lower": means - wide, "upper": means + wide}, {}),
        ({"a": means - wide, "b": means + wide}, {"half_width": ("a", "b")}),
    ):
        fit = rc.fit_rate({"N": N, "error": means} | columns, x="N", y="error", count=count, **options)
        assert fit.whole.value == pytest.approx(expected.value)
        assert fit.whole.se == pytest.approx(expected.se)
        assert "% ones" in said(fit)


def test_columns_that_a_series_does_not_use_are_named():
    assert "not used: bar" in said(rc.fit_rate({"N": N, "error": N, "bar": N}))


def test_rows_outside_the_window_may_be_anything():
    source = {"N": [0, *N, np.nan, 4096], "error": [1, *N**-0.5, 1, np.nan]}
    with pytest.raises(FitError, match="are missing or not finite"):
        rc.fit_rate(source)
    assert rc.fit_rate(source, window=(1, 2048)).whole == rc.fit_rate({"N": N, "error": N**-0.5}).whole


def test_x_below_e_needs_no_logarithm():
    t = {"n": 2.0 ** np.arange(8), "error": 2.0 ** -np.arange(8)}
    fit = rc.fit_rate(t)
    assert fit.slope == pytest.approx(-1)
    assert rc.verdict(fit, rc.Rate.of_regret(-1)).name == "CONSISTENT"
    assert rc.verdict(fit, rc.Rate.of_regret(-1.5)).name == "REFUTED"
    with pytest.raises(FitError, match="n = 1 does not exceed e"):
        rc.fit_rate(t, log_power=1)
    with pytest.raises(FitError, match="does not exceed e"):
        rc.verdict(fit, rc.Rate.of_regret(-1, 1))


def test_numbers_as_people_write_them():
    assert [number(t) for t in ("1/64", "2^10", "2**-3", "1e-3", "−2", "a", "1_0", "1/0")] == [
        1 / 64, 1024, 0.125, 1e-3, -2, None, None, None,
    ]  # fmt: skip


def test_half_a_unit_of_the_last_digit():
    assert half_units(["0.1230", "0.0040"], [0.123, 0.004]).tolist() == pytest.approx([5e-5, 5e-5])
    assert half_units(["1.23e-2", "4.5e-5"], [1.23e-2, 4.5e-5]).tolist() == pytest.approx([5e-5, 5e-8])
    assert max(half_units(None, [1.0, 2.0])) < 1e-15


def test_a_table_is_read_once():
    t = table_of({"N": N, "error": N})
    assert table_of(t) is t

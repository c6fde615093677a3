"""The numbers of a report against fits.csv, details.csv and gaps.csv."""

import itertools
import re

import pandas as pd
import pytest

from ratecheck.display import estimate, fixed, formula, general, horizon_text, interval
from ratecheck.rates import Rate
from tests.report_cases import I, judged_as, report, section, tables_of, the_table


def test_verdict_table_equals_fits_csv(written):
    text = (written / "report.md").read_text("utf-8")
    fits = pd.read_csv(written / "fits.csv")
    rows = the_table(text, "as printed")
    assert len(rows) == 8
    for row in rows:
        of_case = fits[(fits["dim"] == int(row["d"])) & (fits["algorithm"] == row["algorithm"])]
        here = of_case[of_case["theorem"].str.startswith(row["theorem"])]
        printed, stands = here.iloc[0], here.iloc[-1]
        assert row["printed R"].removeprefix(r"$\ge$ ") == formula(
            Rate(1 - printed["theory_slope"], printed["log_power"])
        )
        assert row["fitted slope"] == estimate(stands["slope"], stands["low"], stands["high"])
        assert row["exponent"].strip("*") == printed["exponent_verdict"]
        assert row["as printed"].strip("*") == printed["verdict"]
        if row["theorem"] == "Theorem 3":
            assert row["fitted log power"] == row["log power"] == row["corrected R"] == "–"
            continue
        power = [stands[f"fitted_log_power{end}"] for end in ("", "_low", "_high")]
        assert row["fitted log power"] == estimate(*power, digits=2)
        assert list(here["log_power_verdict"]) == re.findall("[A-Z]{4,}", row["log power"])
        if len(here) == 2:
            assert row["corrected R"] == formula(Rate(1 - stands["theory_slope"], stands["log_power"]))


def test_diagnostics_equal_fits_csv(written):
    text = (written / "report.md").read_text("utf-8")
    fits = pd.read_csv(written / "fits.csv")
    own = fits[fits["kind"] == "upper"].drop_duplicates(["dim", "algorithm"], keep="last")
    own = own.set_index(["dim", "algorithm"])
    for row in the_table(text, "bootstrap"):
        here = own.loc[(int(row["d"]), row["algorithm"])]
        assert row["slope of R, raw"] == estimate(here["raw_slope"], here["raw_low"], here["raw_high"])
        assert row["last half"] == estimate(here["last_half"], here["last_half_low"], here["last_half_high"])
        assert row["jackknife"] == interval(here["low"], here["high"])
        assert row["bootstrap"] == interval(here["bootstrap_low"], here["bootstrap_high"])
        assert row["curvature (p)"].startswith(fixed(here["curvature"]))
        assert row["χ² / expected (p)"].startswith(
            f"{fixed(here['chi_square'], 1)} / {fixed(here['chi_square_expected'], 1)}"
        )
        assert row["largest run"] == f"{100 * here['largest_share']:.0f} %"
    for row in the_table(text, "ln T is worth"):
        here = own.loc[(int(row["d"]), row["algorithm"])]
        assert row["ln T is worth"] == fixed(here["log_worth"])
        assert row["window"] == f"{horizon_text(here['horizon_min'])} to {horizon_text(here['horizon_max'])}"
        assert row["onset"] == general(here["onset"], 3)
        assert row["periods"] == fixed(here["periods"], 2)
        assert row["runs"] == f"{here['replicates']} of 24"


@pytest.mark.parametrize(("what", "column"), [("sensitivity", "choice"), ("local slope", "T")])
def test_tables_side_by_side_equal_details_csv(written, what, column):
    text = (written / "report.md").read_text("utf-8")
    title = {"sensitivity": "Diagnostics and sensitivity", "local slope": "Local slopes"}[what]
    details = pd.read_csv(written / "details.csv")
    details = details[details["what"] == what]
    shown = [rows for header, rows in tables_of(section(text, title)) if column in header and "UniformBins" in header]
    (rows,) = shown
    seen = 0
    for row, algorithm in itertools.product(rows, ("UniformBins", "AdaptiveBins")):
        here = details[(details["dim"] == int(row["d"])) & (details["algorithm"] == algorithm)]
        if column == "choice":
            here = here[here["choice"] == row["choice"]]
        else:
            here = here[here["horizon"].round().astype(int).astype(str) == row["T"]]
        if row[algorithm] == "–":
            assert here.empty
        else:
            (found,) = here.itertuples()
            assert row[algorithm] == estimate(found.value, found.low, found.high)
            seen += 1
    assert seen == len(details)


def test_gaps_equal_gaps_csv(written):
    rows = the_table((written / "report.md").read_text("utf-8"), "measured gap")
    gaps = pd.read_csv(written / "gaps.csv").set_index("dim")
    for row in rows:
        here = gaps.loc[int(row["d"])]
        assert row["measured gap"] == estimate(here["gap"], here["low"], here["high"])
        assert row["predicted"] == fixed(here["predicted"])
        assert row["with log powers"] == fixed(here["with_log_powers"])


def test_numbers_in_sentences_come_from_the_tables(small, tmp_path):
    """Every reason in the notes stands word for word in fits.csv; claims that hold in all parts share one sentence."""
    text = report(tmp_path, judged_as(small, exponent=I))
    reasons = " ".join(pd.read_csv(tmp_path / "fits.csv")["reason"])
    notes = re.findall(r"^\d+\. .*?, Theorem \d: (.*)$", text, re.MULTILINE)
    assert len(notes) >= len(small.results)
    for number in re.findall(r"-?\d+\.\d+", " ".join(notes)):
        assert number in reasons

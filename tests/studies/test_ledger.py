"""The ledger of claims: statements, kept tables, verdicts that stand and verdicts that stood, the command."""

import json
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd
import pytest

from ratecheck.cli.study import main
from ratecheck.study.declared import declaration, load
from studies.claims.ledger import (
    Effort,
    Experiment,
    Finding,
    Judgement,
    Ledger,
    Picture,
    Proof,
    Statement,
    Verdict,
    history,
    keeping,
    pages,
    running,
    writing,
)
from studies.claims.ledger.finding import MARKS
from studies.claims.ledger.statement import check, layers, reach
from studies.claims.statements import ERRATA, STATEMENTS

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Coin(Experiment):
    """Two tables; claim 1 needs the first, claim 2 both."""

    ledger = "games.study"
    heads: int = 3

    def parts(self, effort):
        return {
            "tosses": lambda: pd.DataFrame({"heads": [self.heads], "seed": [effort.seed], "share": [self.heads / 7]}),
            "dice": lambda: pd.DataFrame({"six": [effort.of({"quick": 1, "standard": 2})]}),
        }

    def judgements(self):
        return {"1": Judgement(("tosses",), self.fair), "2": Judgement(("tosses", "dice"), lambda t: OPEN)}

    def fair(self, tables):
        heads = int(tables["tosses"]["heads"].iloc[0])
        return Finding("REFUTED" if heads > 5 else "CONFIRMED", f"{heads} heads")

    def pictures(self, tables):
        from matplotlib.figure import Figure

        return [Picture("coin", "A coin", "Nothing to see.", Figure)]

    def words(self, tables):
        return [f"There were {tables['tosses']['heads'].iloc[0]} heads."]


OPEN = Finding("INCONCLUSIVE", "nobody knows", caveat="one die")
COIN = Coin("coin", "Coins", "Is it fair?")
CLAIMS = (
    Statement("1", "Fair", "Section 1", "The coin is fair.", "coin", Proof.SOUND, (), ("E1",)),
    Statement("2", "So is the die", "Section 2", "The die is fair.", "coin", Proof.ABSENT, ("1",)),
)
LEDGER = Ledger("games", "Games", "Fair?", "A paper.", CLAIMS, "games", ("coin",), {"E1": "a coin has a rim"})


def test_claims_of_the_paper():
    assert {s.id.rstrip("cp") for s in STATEMENTS} == {str(n) for n in range(1, 32)}  # all 31
    assert {e for s in STATEMENTS for e in s.errata} <= set(ERRATA)
    for s in STATEMENTS:
        assert s.title
        assert s.place
        assert s.text.endswith(".")


def test_declared_claims(monkeypatch):
    """Every claim of the ledger has its experiment, which decides it; declarations have no logic."""
    monkeypatch.chdir(ROOT)
    ledger = declaration("claims")
    assert set(ledger.declared()) == set(ledger.experiments)
    paths = sorted((ROOT / "studies" / "claims").glob("*/study.py"))
    assert {path.parent.name for path in paths} == set(ledger.experiments)
    for path in paths:
        assert load(path).study.name == path.parent.name
        assert not any(line.startswith(("def ", "class ", "if ", "for ")) for line in path.read_text().splitlines())


def test_what_rests_on_what():
    assert [[s.id for s in layer] for layer in layers(CLAIMS)] == [["1"], ["2"]]
    assert reach(CLAIMS, "E1") == (["1"], ["2"])
    assert reach(CLAIMS, "E2") == ([], [])


def test_statements_that_cannot_be():
    first, second = CLAIMS
    with pytest.raises(ValueError, match="twice"):
        check([first, first])
    with pytest.raises(ValueError, match="needs claim 9"):
        check([replace(first, needs=("9",))])
    with pytest.raises(ValueError, match="in a circle"):
        check([replace(first, needs=("2",)), second])
    with pytest.raises(ValueError, match="none of coin"):
        replace(LEDGER, statements=(replace(first, study="dice"),))
    with pytest.raises(ValueError, match="erratum E1"):
        replace(LEDGER, errata={})
    with pytest.raises(ValueError, match="no claim 3"):
        LEDGER.chosen(["3"])


@pytest.mark.parametrize(
    ("finding", "complaint"),
    [
        (("CONSISTENT", "a slope"), "what it tolerates"),
        (("NOT TESTABLE", "a limit"), "must say why"),
        (("CONFIRMED", ""), "evidence"),
        (("CONFIRMED", "two\nlines"), "on one line"),
        (("PERHAPS", "x"), "PERHAPS"),
    ],
)
def test_findings_without_grounds(finding, complaint):
    with pytest.raises(ValueError, match=complaint):
        Finding(*finding)


def test_tables_are_measured_once(tmp_path):
    said = []
    first = running.undertake(COIN, Effort(), folder=tmp_path, say=said.append)
    again = running.undertake(COIN, Effort(), folder=tmp_path, say=said.append)
    assert said == ["coin: tosses", "coin: dice"]
    assert first.findings == again.findings
    assert first.tables["tosses"]["share"].iloc[0] == 3 / 7  # to the last bit
    assert keeping.complete(COIN, Effort(), tmp_path)


def test_one_claim_needs_its_tables_only(tmp_path):
    said = []
    done = running.undertake(COIN, Effort(), folder=tmp_path, claims=["1"], say=said.append)
    assert said == ["coin: tosses"]
    assert list(done.findings) == ["1"]
    assert not keeping.complete(COIN, Effort(), tmp_path)


@pytest.mark.parametrize(
    ("experiment", "effort"),
    [(COIN, Effort("quick")), (COIN, Effort(seed=1)), (replace(COIN, heads=4), Effort())],
    ids=["preset", "seed", "declaration"],
)
def test_other_settings_are_not_mixed(tmp_path, experiment, effort):
    running.undertake(COIN, Effort(), folder=tmp_path, say=str)
    with pytest.raises(keeping.OtherSettings, match="--fresh"):
        running.undertake(experiment, effort, folder=tmp_path, say=str)
    assert not keeping.complete(experiment, effort, tmp_path)
    running.undertake(experiment, effort, folder=tmp_path, fresh=True, say=str)
    assert keeping.complete(experiment, effort, tmp_path)


def test_altered_tables_are_noticed(tmp_path):
    running.undertake(COIN, Effort(), folder=tmp_path, say=str)
    table = tmp_path / "tosses.csv"
    table.write_text(table.read_text().replace("3,", "6,"))
    with pytest.raises(keeping.OtherSettings, match=r"tosses\.csv is not what was written"):
        running.undertake(COIN, Effort(), folder=tmp_path, say=str)
    (tmp_path / "settings.json").write_text("[]")
    with pytest.raises(keeping.OtherSettings, match="cannot be read"):
        running.undertake(COIN, Effort(), folder=tmp_path, say=str)


def test_an_interruption_keeps_what_is_done(tmp_path, monkeypatch):
    def stop():
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        parts = Coin.parts
        patch.setattr(Coin, "parts", lambda self, effort: {"tosses": parts(self, effort)["tosses"], "dice": stop})
        with pytest.raises(KeyboardInterrupt):
            running.undertake(COIN, Effort(), folder=tmp_path, say=str)
    said = []
    running.undertake(COIN, Effort(), folder=tmp_path, say=said.append)
    assert said == ["coin: dice"]


ROW = history.Row.of(
    "1", Finding("CONFIRMED", "3 heads"), preset="standard", seed=0, semantics=3, measured="2026-01-01"
)


def test_later_verdicts_supersede():
    later = replace(ROW, verdict="REFUTED", evidence="6 heads", measured="2026-02-02")
    assert history.entered((ROW,), later) == (replace(ROW, superseded="preset standard, seed 0, of 2026-02-02"), later)
    assert history.entered((ROW,), replace(ROW, measured="2026-02-02")) == (ROW,)  # the same again is no news


def test_a_lesser_preset_supersedes_nothing():
    lesser = replace(ROW, evidence="1 head", preset="quick", measured="2026-02-02")
    rows = history.entered((ROW,), lesser)
    assert rows == (ROW, replace(lesser, superseded="preset standard, seed 0, of 2026-01-01"))
    assert history.entered(rows, replace(lesser, measured="2026-03-03")) == rows
    newer = replace(lesser, semantics=4)  # of another engine
    assert history.entered((ROW,), newer)[-1] == newer


def test_history_through_its_file():
    rows = (
        ROW,
        replace(ROW, claim="2c", evidence='a "quoted", = line', superseded="preset standard, seed 0, of 2026-02-02"),
    )
    assert history.parsed(history.text(rows)) == rows
    with pytest.raises(ValueError, match="line 2"):
        history.parsed(history.text((replace(ROW, verdict="MAYBE"),)))
    with pytest.raises(ValueError, match="line 2"):
        history.parsed("a,b\n1,2\n")


def test_pages_show_what_stands_and_what_stood(tmp_path):
    folder = tmp_path / "coin"
    folder.mkdir()
    done = running.undertake(COIN, Effort(), folder=folder, say=str)
    page = writing.write_experiment(done, folder, statements=CLAIMS, command="the command").read_text()
    for text in ("There were 3 heads.", "✔ CONFIRMED", "the command", "caveat: one die", "figures/coin.png"):
        assert text in page
    how = {"folder": tmp_path, "effort": Effort(), "command": "all"}
    writing.write_ledger(LEDGER, done.findings, **how)
    page = writing.write_ledger(LEDGER, {"1": Finding("REFUTED", "6 heads")}, **how).read_text()
    assert "✘ **REFUTED**" in page
    assert "| ~~CONFIRMED~~ |" in page
    assert "| E1 | a coin has a rim | 1 | 2 |" in page
    assert (tmp_path / "figures" / "graph.png").stat().st_size > 1000
    rows = history.parsed((tmp_path / "claims.csv").read_text())
    assert [row.verdict for row in rows] == ["CONFIRMED", "INCONCLUSIVE", "REFUTED"]


def test_every_verdict_has_a_mark():
    assert set(MARKS) == set(pages.MEANING) == set(Verdict)


# The command

DECLARED = """
import sys
sys.path.insert(0, {tests!r})
from tests.studies.test_ledger import COIN, LEDGER
study = {which}
"""


@pytest.fixture
def games(tmp_path, monkeypatch, request):
    root = str(request.config.rootpath)
    for folder, which in (("games", "LEDGER"), ("games/coin", "COIN")):
        (tmp_path / "studies" / folder).mkdir(parents=True, exist_ok=True)
        text = DECLARED.format(tests=root, which=which)
        (tmp_path / "studies" / folder / "study.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "studies" / "games"


def test_a_ledger_by_its_command(games, capsys):
    assert main(["--study", "games"]) == 0
    out, err = capsys.readouterr()
    assert "1 CONFIRMED, 1 INCONCLUSIVE" in out
    assert "claim 1: CONFIRMED" in err
    assert (games / "report.md").exists()
    assert "--study games/coin" in (games / "coin" / "report.md").read_text()
    assert main(["--study", "games"]) == 0
    assert "coin: tosses" not in capsys.readouterr().err  # kept


def test_a_claim_by_its_command(games, capsys):
    assert main(["--study", "games", "--claim", "1"]) == 0
    assert "1 CONFIRMED" in capsys.readouterr().out
    assert main(["--study", "games/coin", "--claim", "2"]) == 0
    assert json.loads((games / "coin" / "settings.json").read_text())["preset"] == "standard"


def test_a_lesser_preset_goes_elsewhere(games, capsys):
    assert main(["--study", "games", "--preset", "quick"]) == 0
    assert not (games / "report.md").exists()
    assert (games.parents[1] / "results" / "games-quick" / "report.md").exists()


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (["--study", "games", "--claim", "9"], "there is no claim 9"),
        (["--study", "games/coin", "--claim", "9"], "decides no claim 9"),
        (
            ["--study", "games", "--replicates", "5"],
            "no --replicates (it takes: --preset, --seed, --claim)",
        ),
        (["--study", "games", "--preset", "full"], "quick or standard, not full"),
        (["--family", "cone", "--claim", "1"], "this study takes no --claim"),
        (["--study", "games/dice"], "there is no studies/games/dice/study.py"),
    ],
)
def test_wrong_commands(games, capsys, line, complaint):
    assert main(line) == 2
    assert complaint in capsys.readouterr().err


def test_a_plan_measures_nothing(games, capsys):
    assert main(["--study", "games", "--dry-run"]) == 0
    assert "coin: tosses, dice" in capsys.readouterr().out
    assert not (games / "coin" / "tosses.csv").exists()

"""The page about `assert_rate` in the report, from the table that `studies.benchmarks.asserting` writes."""

from __future__ import annotations

from studies.calibration.cells import per_cent

FILE = "asserting.csv"
NONE = "none"
OUTCOMES = ("failed", "cannot tell", "passed")
GROUPS = {"yes": "held out", "no": "seen"}
CHANGES = {"rate": "the rate", "constant": "a constant", "open": "not known"}


def assertion_page(table) -> list[str]:
    sound, mistaken = table[table["mistake"] == NONE], table[table["mistake"] != NONE]
    return [
        "## Assertions in tests",
        "",
        "`assert_rate` with its own tolerance, false-alarm rate and power, on algorithms that are sound and on ones "
        "with a mistake.  `cannot tell` is no failure of the algorithm; an assertion that ran out of its 20 s counts "
        "there.  Seconds are those of a processor, in the median, as is T_max.",
        "",
        *_sound_lines(sound),
        "",
        *_summary_lines(mistaken),
        "",
        *_mistake_lines(mistaken),
    ]


def _sound_lines(sound) -> list[str]:
    lines = ["| sound algorithm | seeds | failed | cannot tell | passed | seconds | T_max |", "|---" * 7 + "|"]
    for row in sound.to_dict("records"):
        cells = [row["kind"], row["seeds"], *(row[name] for name in OUTCOMES), f"{row['seconds']:g}", row["T_max"]]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return lines


def _summary_lines(mistaken) -> list[str]:
    """Shares of all assertions of a group."""
    lines = [
        "What a mistake changes was reasoned, not measured: the rate, so that the regret grows faster by more than the "
        "tolerance, if only in rare runs; a constant, which `assert_rate` does not promise to notice without "
        "`agreement`; or not known.  Mistakes held out were written down, with what they change, when the rules "
        "stood and before any of them was run.  Per cent of all assertions:",
        "",
        "| mistakes | they change | agreement | mistakes | failed | cannot tell | passed |",
        "|---" * 7 + "|",
    ]
    agreeing = mistaken["kind"].str.contains("agreement")
    for held_out, group in GROUPS.items():
        for change, words in CHANGES.items():
            for asked in (False, True):
                part = mistaken[
                    (mistaken["held_out"] == held_out) & (mistaken["changes"] == change) & (agreeing == asked)
                ]
                if len(part):
                    shares = [per_cent(part[name].sum() / part["seeds"].sum()) for name in OUTCOMES]
                    cells = [group, words, "yes" if asked else "no", str(len(part)), *shares]
                    lines.append(f"| {' | '.join(cells)} |")
    return lines


def _mistake_lines(mistaken) -> list[str]:
    lines = ["| kind | mistake | | it changes | failed / cannot tell / passed |", "|---" * 5 + "|"]
    for row in mistaken.to_dict("records"):
        counts = " / ".join(str(row[name]) for name in OUTCOMES)
        cells = [row["kind"], row["mistake"], GROUPS[row["held_out"]], CHANGES[row["changes"]], counts]
        lines.append(f"| {' | '.join(cells)} |")
    return lines

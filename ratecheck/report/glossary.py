"""Ten words that a report uses, for those who meet them for the first time."""

from __future__ import annotations

from .context import Context

WORDS = {
    "regret": "R, the sum of f(x_t) − f* over the queries up to T, without the noise.",
    "slope": "that of ln R against ln T: R grows like T^slope. R/T falls like T^(slope − 1).",
    "log power": "the p in T^slope (ln T)^p. Over a window of runs a power of ln T looks like a little more slope.",
    "onset": "the horizon from which on theory expects the rate; before it an algorithm still explores everything.",
    "window": "the horizons that a slope is fitted to: from the onset on; if few lie there all, and no verdict.",
    "predicted curve": "the regret that theory computes for this algorithm and cost at finite T, nothing fitted.",
    "margin": "how much steeper than promised still counts as kept; fixed before anything runs.",
    "passes, caught": "the force of a verdict: what would have come out the same although wrong, and what would not.",
    "control": "the same runs made steeper on purpose; a rule that does not refute them proves nothing.",
    "lock-in": "a run that pays over twice what is foretold, since it stays with a wrong cell; few carry the mean.",
}


def glossary(context: Context):
    yield "## Ten words"
    yield "\n".join(f"- **{word}**: {meaning}" for word, meaning in WORDS.items())

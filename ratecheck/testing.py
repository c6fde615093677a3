"""For the test suites of other people: rates to assert, and the contract that every algorithm keeps to.

See `assert_rate` and `check_algorithm`.
"""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from function_zoo import Cost

    from .algorithms.protocol import Algorithm
    from .check.assert_rate import Assertion as Assertion
    from .check.assert_rate import CannotTell as CannotTell
    from .check.assert_rate import CurveChanged as CurveChanged
    from .check.assert_rate import RateRefuted as RateRefuted
    from .check.assert_rate import assert_rate as assert_rate

ASSERTING = ("Assertion", "CannotTell", "CurveChanged", "RateRefuted", "assert_rate")
HORIZONS = (20, 60, 200)
LATER = 2**20
INTERPRETED = 50  # steps without the compiler
ELSEWHERE = """
import pickle, sys
sys.path[:], sent = pickle.load(sys.stdin.buffer)
from ratecheck.testing import _table
sys.stdout.buffer.write(pickle.dumps(_table(*pickle.loads(sent))))
"""


def __getattr__(name):
    if name in ASSERTING:  # on first use: it needs the whole engine
        from .check import assert_rate as asserting

        return getattr(asserting, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def check_algorithm(algorithm: Algorithm, costs: Iterable[Cost] | None = None, elsewhere: bool = True) -> None:
    """Raise AssertionError, with a sentence that names the clause, where an algorithm breaks the contract.

    It is run for a few hundred steps on every cost; without costs on a cone in two dimensions and a quadratic in one.
    `elsewhere`: at last in another process too, on the first cost, which takes a second or two.
    """
    import function_zoo as zoo

    costs = [zoo.get("cone", 2), zoo.get("quadratic", 1)] if costs is None else list(costs)
    for cost in costs:
        for name, holds in CLAUSES.items():
            _hold(name, holds, algorithm, cost)
    if elsewhere and costs:
        _hold("another process comes to the same", _elsewhere, algorithm, costs[0])


def _hold(clause, holds, algorithm, cost):
    try:
        holds(algorithm, cost)
    except Exception as error:
        first = (str(error).splitlines() or [""])[0]
        what = first if isinstance(error, Broken) else f"{type(error).__name__}: {first}"
        name = " ".join(str(getattr(algorithm, "label", algorithm)).split())
        raise AssertionError(f"{name} on {cost} breaks the contract ({clause}): {what}") from error


class Broken(Exception):
    """A clause does not hold; the message says what was found."""


CLAUSES: dict[str, Callable] = {}


def clause(name):
    def register(function):
        CLAUSES[name] = function
        return function

    return register


def _require(condition, sentence):
    if not condition:
        raise Broken(sentence)


def _table(algorithm, cost, horizons=HORIZONS, replicates=3, workers=1):
    from .engine.simulate import simulate

    return simulate(algorithm, cost, list(horizons), replicates=replicates, workers=workers).frame


def _begun(algorithm, cost, horizon, diagnostics=False):
    from .engine.simulate import Job

    return Job(algorithm.settle(cost), cost, diagnostics=diagnostics).begin(horizon)[0]


@clause("the interface of protocol.py")
def _interface(algorithm, cost):
    from .algorithms.protocol import ATTRIBUTES, check_algorithm

    check_algorithm(algorithm)
    hash(algorithm)
    settled = algorithm.settle(cost)
    for name in ATTRIBUTES:
        _require(hasattr(settled, name), f"when settled it has no {name}")
    _require(settled.settle(cost) == settled, f"settled twice it is {settled.settle(cost)}, once it is {settled}")
    for name in ("kind", "anytime"):
        before, after = getattr(algorithm, name), getattr(settled, name)
        _require(before == after, f"its {name} is {before!r}, and {after!r} when settled")
    _require(isinstance(algorithm.anytime, bool), f"anytime = {algorithm.anytime!r} is neither True nor False")
    for horizon in HORIZONS:
        settled.check(cost, horizon, True)


@clause("names and fingerprints stay")
def _names(algorithm, cost):
    label = algorithm.label
    _require(label.isprintable() and 0 < len(label) < 60, f"its label {label!r} is not a short text on one line")
    settled = algorithm.settle(cost)
    _require(str(settled) == str(algorithm.settle(cost)), "str of the settled algorithm differs from call to call")
    _require(settled.fingerprint == settled.fingerprint, "its fingerprint differs from call to call")
    _require(" at 0x" not in str(settled), f"its name {settled} holds an address, another one in every process")


@clause("the same seed gives the same run")
def _repeats(algorithm, cost):
    first, second = _table(algorithm, cost), _table(algorithm, cost)
    must = "all randomness must come from the rng that it is given, and nothing may stay from one run to the next"
    _require(first.equals(second), f"two runs of the same names differ{_difference(first, second)}; {must}")


@clause("pickled it is the same")
def _pickled(algorithm, cost):
    settled = algorithm.settle(cost)
    again = pickle.loads(pickle.dumps(settled))
    _require(type(again) is type(settled), f"it comes back as a {type(again).__name__}")
    _require(str(again) == str(settled), f"it comes back as {again}, and was {settled}")
    before, after = (_table(a, cost, replicates=1) for a in (settled, again))
    _require(before.equals(after), "it runs otherwise when it comes back" + _difference(before, after))


@clause("order, company and workers change nothing")
def _alone(algorithm, cost):
    whole = _table(algorithm, cost, replicates=6)
    backwards = _table(algorithm, cost, replicates=[5, 3, 1])
    threads = _table(algorithm, cost, replicates=6, workers=3)
    _require(threads.equals(whole), "three workers give other runs than one" + _difference(whole, threads))
    for replicate in (1, 3, 5):
        one, alone = _of(whole, replicate), _table(algorithm, cost, replicates=[replicate])
        for other, how in ((_of(backwards, replicate), "in another order"), (alone, "alone")):
            found = f"replicate {replicate} runs otherwise {how}{_difference(one, other)}"
            _require(other.equals(one), f"{found}; replicates may share nothing")


@clause("a run may be interrupted anywhere")
def _interrupted(algorithm, cost):
    at_once, bit_by_bit = _begun(algorithm, cost, 150), _begun(algorithm, cost, 150)
    at_once.advance(150)
    for until in (1, 2, 3, 50, 50, 51, 150):
        bit_by_bit.advance(until)
        _require(bit_by_bit.t == until, f"advance({until}) took it to t = {bit_by_bit.t}")
    for name in ("regret", "cells"):
        whole, parts = getattr(at_once, name), getattr(bit_by_bit, name)
        _require(whole == parts, f"{name} is {whole!r} at once, and {parts!r} bit by bit")


@clause("a stopped run returns what it has")
def _stopped(algorithm, cost):
    from .engine.simulate import Job

    stop = threading.Event()
    stop.set()
    settled = algorithm.settle(cost)
    block = HORIZONS if settled.anytime else HORIZONS[:1]
    rows, _, _ = Job(settled, cost).run((0, block), stop)
    _require(rows == [], f"a run that was stopped before its first step has {len(rows)} rows")


@clause("anytime means that the horizon is not known")
def _anytime(algorithm, cost):
    whole, middle = _table(algorithm, cost), HORIZONS[1]
    kept = [h for h in HORIZONS if h == middle or (algorithm.anytime and h < middle)]
    before = whole[whole["horizon"].isin(kept)].reset_index(drop=True)
    shorter = _table(algorithm, cost, kept)
    _require(
        shorter.equals(before),
        f"up to T = {middle} it runs otherwise when T = {HORIZONS[-1]} is to follow{_difference(before, shorter)}; "
        "an algorithm that looks at the horizon is not anytime",
    )


@clause("regret never falls")
def _regret(algorithm, cost):
    run, before = _begun(algorithm, cost, 60), 0.0
    rounding = 1e-9 * max(1.0, abs(cost.minimum), cost.constants.M)
    for t in range(1, 61):
        run.advance(t)
        _require(math.isfinite(run.regret), f"its regret is {run.regret} after step {t}")
        _require(run.regret >= before - rounding, f"its regret falls from {before!r} to {run.regret!r} in step {t}")
        before = run.regret


@clause("claims")
def _claims(algorithm, cost):
    from .claims import Claim

    for found in algorithm.settle(cost).claims(cost):
        _require(isinstance(found, Claim), f"{found!r} is no Claim")
        _require(found.kind in ("upper", "lower"), f"{found.theorem} is of the kind {found.kind!r}")
        _require(0 <= found.rate.slope <= 1, f"{found.theorem} claims a slope of {found.rate.slope:g}, not in [0, 1]")
        _require(found.rate.log_power >= 0, f"{found.theorem} claims the negative power {found.rate.log_power:g}")
        same = found.corrected is None or math.isclose(found.corrected.exponent, found.printed.exponent)
        _require(same, f"the correction of {found.theorem} has another exponent")
        for violation in found.violated:
            _require("\n" not in violation.sentence, f"{violation.name} is said in more than one line")


@clause("what theory says beforehand is a number")
def _theory(algorithm, cost):
    settled = algorithm.settle(cost)
    onset, shift = settled.onset(cost, LATER), settled.shift(cost)
    _require(1 <= onset < math.inf, f"its onset is {onset!r}")
    _require(shift is None or shift >= 0, f"its shift is {shift!r}")
    for name in ("period", "scale"):
        factor = getattr(settled, name)(cost)
        _require(math.isnan(factor) or factor > 1, f"its {name} is {factor!r}, where a factor above 1 or nan is meant")
    cells, pace = settled.cells(cost, LATER), settled.seconds_per_step(cost, LATER)
    _require(0 <= cells < math.inf, f"it expects {cells!r} cells")
    _require(0 < pace < math.inf, f"it expects {pace!r} seconds per step")
    _require(settled.length(cost, LATER, 0.5) >= 0, f"its cells have the length {settled.length(cost, LATER, 0.5)!r}")


@clause("a level rule makes sense if it has one")
def _level_rule(algorithm, cost):
    if not hasattr(algorithm, "level_rule"):
        return
    rule = algorithm.settle(cost).level_rule(cost, cost.side)
    bonus = [rule.bonus(t) for t in (2.0, 1e6, 1e300)]
    _require(0 < bonus[0] < bonus[1] < bonus[2] < math.inf, f"its bonus does not grow with T: {bonus}")
    for k in range(30):
        _require(1 <= rule.capacity(k) <= rule.capacity(k + 1), f"the capacity falls from level {k} to {k + 1}")
        _require(0 <= rule.bias(k + 1) <= rule.bias(k), f"the bias grows from level {k} to {k + 1}")


@clause("tell leaves its point alone")
def _left_alone(algorithm, cost):
    """Of algorithms with ask and tell: the point that tell receives is read and copied, not written and kept."""
    from .algorithms.asktell import AskTell
    from .algorithms.compiled import Compiled

    if isinstance(algorithm, Compiled):
        run = _begun(algorithm, cost, 60)
        run.advance(60)
        shared = any(np.shares_memory(run.x, part) for part in _arrays(run.memory))
        _require(not shared, "its state holds x itself, which the next step overwrites; copy it")
        run.loop.interpreted(run, _watched)(80)
    if isinstance(algorithm, AskTell):
        run = _begun(algorithm, cost, 60)
        run.player = _Watched(run.player)
        run.advance(60)


class _Watched:
    """A player whose points are compared before and after `tell`."""

    def __init__(self, player):
        self.player, self.ask = player, player.ask

    def tell(self, x, y):
        before = np.array(x)
        self.player.tell(x, y)
        _unchanged(before, x)


def _watched(tell):
    def watched(state, t, x, y):
        before = x.copy()
        new = tell(state, t, x, y)
        _unchanged(before, x)
        return new

    return watched


def _unchanged(before, x):
    _require(np.array_equal(before, x), f"tell changed its x from {before.tolist()} to {np.asarray(x).tolist()}")


def _arrays(state):
    if isinstance(state, np.ndarray):
        yield state
    elif isinstance(state, tuple):
        for part in state:
            yield from _arrays(part)


@clause("without the compiler it runs alike")
def _interpreted(algorithm, cost):
    """Of functions that numba compiled: an index out of range, or a number that overflows, shows in plain Python."""
    from .algorithms.compiled import Compiled

    if not isinstance(algorithm, Compiled):
        return
    compiled, plain = _begun(algorithm, cost, INTERPRETED), _begun(algorithm, cost, INTERPRETED)
    advance = plain.loop.interpreted(plain)
    for t in range(1, INTERPRETED + 1):
        compiled.advance(t)
        advance(t)
        _require(
            math.isclose(compiled.regret, plain.regret, rel_tol=1e-9),
            f"its regret after step {t} is {compiled.regret!r} compiled, and {plain.regret!r} in plain Python; an "
            "integer may overflow, an index lie outside its array, or a global have changed since it was compiled",
        )


@clause("diagnostics add up and change nothing")
def _diagnostics(algorithm, cost):
    from .engine.simulate import simulate

    try:
        _begun(algorithm, cost, HORIZONS[0], diagnostics=True)
    except ValueError:  # it says that it has none
        return
    plain = _table(algorithm, cost, replicates=2)
    full = simulate(algorithm, cost, list(HORIZONS), replicates=2, diagnostics=True)
    _require(plain.equals(full.frame[plain.columns]), "with diagnostics it runs otherwise")
    sums = full.levels.groupby(["replicate", "horizon"])[["pulls", "cells", "regret"]].sum()
    _require(sums["pulls"].tolist() == plain["horizon"].tolist(), f"pulls over levels are {sums['pulls'].tolist()}")
    _require(sums["cells"].tolist() == plain["cells"].tolist(), f"cells over levels are {sums['cells'].tolist()}")
    _require(np.allclose(sums["regret"], plain["regret"], rtol=1e-12), "regret over levels is not the regret")


def _elsewhere(algorithm, cost):
    """What stays in a process, or is another thing in each, as the order of a set of texts, shows there."""
    last = HORIZONS[-1:], [2]  # that what was run first is another run there
    sent = pickle.dumps((sys.path, pickle.dumps((algorithm, cost, *last))))
    done = subprocess.run([sys.executable, "-c", ELSEWHERE], input=sent, capture_output=True)
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines() or ["it ended without a word"]
        raise Broken(f"it does not run there: {said[-1]}")
    # fingerprints may differ: what was sent by value has no file there
    here, there = (
        frame[["replicate", "horizon", "regret", "cells", "stream"]]
        for frame in (_table(algorithm, cost, *last), pickle.loads(done.stdout))
    )
    _require(here.equals(there), "it runs otherwise there" + _difference(here, there))


def _of(frame, replicate):
    return frame[frame["replicate"] == replicate].reset_index(drop=True)


def _difference(before, after) -> str:
    """Where two tables of the same runs differ first, in brackets."""
    for one, other in zip(before.to_dict("records"), after.to_dict("records"), strict=False):
        for name in one:
            if one[name] != other[name] and not (one[name] != one[name] and other[name] != other[name]):
                run = f"replicate {one['replicate']} at T = {one['horizon']}"
                return f" ({run}: {name} = {one[name]!r}, then {other[name]!r})"
    return ""

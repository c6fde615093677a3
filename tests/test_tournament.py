"""The tournament's winner is the brute-force argmin at every step."""

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ratecheck.algorithms.tournament import (
    EXPIRY,
    FRESH,
    NODE,
    C,
    empty,
    refresh,
    replace,
    replay,
    rivals,
    seat,
    winner,
)


def ulps(x, k):
    for _ in range(abs(k)):
        x = math.nextafter(x, math.inf if k > 0 else -math.inf)
    return x


# few values, and neighbours a few units in the last place away: lines that tie, nearly tie and cross often
intercepts = st.one_of(
    st.builds(ulps, st.sampled_from([0.0, 0.1, 0.3, 1 / 3, 1.0, -7.0, 1e9]), st.integers(-3, 3)),
    st.floats(-1e3, 1e3),
)
slopes = st.one_of(
    st.sampled_from([1 / math.sqrt(n) for n in (1, 2, 3, 4, 5, 1000, 1001, 10**14)]),
    st.integers(1, 10**15).map(lambda n: 1 / math.sqrt(n)),
)
lines = st.one_of(st.just((FRESH, 0.0)), st.tuples(intercepts, slopes))
steps = st.one_of(st.just(0.0), st.sampled_from([1e-16, 1e-9, 0.1, 1 / 3, 1.0]), st.floats(0, 3))
priorities = st.sampled_from([0.1, 0.2, 0.2, 0.3])  # equal ones too: then the index decides
operations = st.one_of(
    st.tuples(st.just("replace"), st.integers(0, 10**6), lines, steps),
    st.tuples(st.just("winner"), lines, steps),
    st.tuples(
        st.just("split"),
        st.integers(0, 10**6),
        st.lists(st.tuples(lines, priorities), min_size=2, max_size=8),
    ),
    st.tuples(st.just("wait"), steps),
)


class Brute:
    """All lines in a list; the argmin by looking at every key."""

    def __init__(self):
        self.lines, self.priority = [], []

    def keys(self, tau):
        return [-math.inf if c == FRESH else c - tau * w for c, w in self.lines]

    def winner(self, tau):
        return min(range(len(self.lines)), key=lambda i: (self.keys(tau)[i], self.priority[i], i))


def build(brute, size, tau):
    tree, priority = empty(size), np.zeros(size)
    for i, (c, w) in enumerate(brute.lines):
        seat(tree, i, c, w)
        priority[i] = brute.priority[i]
    replay(tree, priority, 0, len(brute.lines), tau)
    return tree, priority


@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.tuples(lines, priorities), min_size=1, max_size=9),
    st.integers(0, 3),
    st.lists(operations, max_size=60),
)
def test_winner_against_brute_force(initial, spare, program):
    brute = Brute()
    for line, priority in initial:
        brute.lines.append(line)
        brute.priority.append(priority)
    tau = 0.0
    tree, priority = build(brute, max(2, len(initial) + spare), tau)
    for name, *arguments in program:
        tau += arguments[-1] if name != "split" else 0.0
        if name == "replace":
            i = arguments[0] % len(brute.lines)
            brute.lines[i] = arguments[1]
            replace(tree, priority, i, *arguments[1], tau)
        elif name == "winner":
            i = winner(tree)
            brute.lines[i] = arguments[0]
            replace(tree, priority, i, *arguments[0], tau)
        elif name == "split":
            i = arguments[0] % len(brute.lines)
            (brute.lines[i], brute.priority[i]), *others = arguments[1]
            m = len(brute.lines)
            brute.lines += [line for line, _ in others]
            brute.priority += [p for _, p in others]
            if len(brute.lines) > len(priority):  # growth: a larger tree of the same cells
                tree, priority = build(brute, len(brute.lines) + 2, tau)
            else:
                for place in (i, *range(m, len(brute.lines))):
                    seat(tree, place, *brute.lines[place])
                    priority[place] = brute.priority[place]
                replay(tree, priority, m, len(brute.lines), tau)
                replay(tree, priority, i, i + 1, tau)
        refresh(tree, priority, tau)
        assert winner(tree) == brute.winner(tau)
        assert tree[NODE + EXPIRY] >= tau


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(lines, priorities), min_size=2, max_size=12), st.floats(0, 30), steps, st.floats(0, 1))
def test_no_rival_undercuts_the_bound(initial, tau, ahead, fraction):
    brute = Brute()
    for line, priority in initial:
        brute.lines.append(line)
        brute.priority.append(priority)
    tree, priority = build(brute, len(initial), tau)
    i = winner(tree)
    bound, expiry = rivals(tree, i, tau + ahead)
    between = min(tau + fraction * (min(tau + ahead, expiry) - tau), tau + ahead)
    others = [key for j, key in enumerate(brute.keys(between)) if j != i]
    assert expiry >= tau
    assert max(min(others), FRESH) >= bound


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(lines, priorities), min_size=1, max_size=12), st.floats(0, 30), st.floats(0, 1))
def test_winner_holds_up_to_its_expiry(initial, tau, fraction):
    brute = Brute()
    for line, priority in initial:
        brute.lines.append(line)
        brute.priority.append(priority)
    tree, _ = build(brute, max(2, len(initial)), tau)
    for later in (min(tree[NODE + EXPIRY], 1e6), tau + fraction * (min(tree[NODE + EXPIRY], 1e6) - tau)):
        assert brute.winner(max(later, tau)) == winner(tree)


def test_vacant_places_never_win():
    tree = empty(4)
    replay(tree, np.zeros(4), 0, 4, 1.0)
    seat(tree, 2, 1e139, 1.0)
    replay(tree, np.zeros(4), 2, 3, 1.0)
    assert winner(tree) == 2
    assert tree[NODE + C] == 1e139

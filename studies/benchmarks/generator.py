"""How fast and how random the kernels' generator is: `python -m studies.benchmarks.generator --draws 1e9`.

Times are set against numba's calls of NumPy's generators and against arrays that NumPy fills for the kernel to consume;
a step draws a point, evaluates a quadratic and adds normal noise.  All take turns in one run, and each counts with its
fastest turn.  The bits can be handed to other programs: `... --raw | dieharder -g 200 -a`.
"""

from __future__ import annotations

import sys
import time
from argparse import ArgumentTypeError

import numpy as np

from ratecheck.display import table
from ratecheck.kernels import compiled, generator
from studies.benchmarks.randomness import LAWS, across_streams, examine
from studies.shared.commands import parser_of, whole

TURNS = 40
DRAWS = 200_000
ARRAY = 4096
DIMS = (1, 2, 3)
STREAMS = 64
SUSPICIOUS = 1e-6


def summing(draw):
    @compiled
    def total(state, n):
        s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
        added = 0.0
        for _ in range(n):
            drawn, s0, s1, s2, s3 = draw(s0, s1, s2, s3)
            added += drawn
        state[0], state[1], state[2], state[3] = s0, s1, s2, s3
        return added

    return total


sum_uniforms, sum_normals = summing(generator.uniform), summing(generator.normal)


@compiled
def sum_numba_uniforms(rng, n):
    added = 0.0
    for _ in range(n):
        added += rng.random()
    return added


@compiled
def sum_numba_normals(rng, n):
    added = 0.0
    for _ in range(n):
        added += rng.standard_normal()
    return added


@compiled
def add_up(values):
    added = 0.0
    for value in values:
        added += value
    return added


@compiled
def quadratic(x):
    value = 0.0
    for q in range(x.size):
        value += (x[q] - 0.3) ** 2
    return 10.0 * value


@compiled
def own_steps(state, x, lower, side, n):
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    R = Y = 0.0
    for _ in range(n):
        for q in range(x.size):
            u, s0, s1, s2, s3 = generator.uniform(s0, s1, s2, s3)
            x[q] = lower + side * u
        value = quadratic(x)
        w, s0, s1, s2, s3 = generator.normal(s0, s1, s2, s3)
        R += value
        Y += value + w
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3
    return R, Y


@compiled
def numba_steps(rng, x, lower, side, n):
    R = Y = 0.0
    for _ in range(n):
        for q in range(x.size):
            x[q] = lower + side * rng.random()
        value = quadratic(x)
        R += value
        Y += value + rng.standard_normal()
    return R, Y


@compiled
def array_steps(uniforms, normals, x, lower, side):
    R = Y = 0.0
    k = 0
    for t in range(normals.size):
        for q in range(x.size):
            x[q] = lower + side * uniforms[k]
            k += 1
        value = quadratic(x)
        R += value
        Y += value + normals[t]
    return R, Y


@compiled
def fill_words(state, out):
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    for k in range(out.size):
        out[k], s0, s1, s2, s3 = generator.bits(s0, s1, s2, s3)
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3


def contenders(rng) -> dict:
    """What is timed: a row each, and in it the generator in the kernel, numba's calls, and arrays filled by NumPy."""
    state = generator.open_state(np.random.SeedSequence(0))
    values = np.empty(ARRAY)

    def filled(fill):
        for _ in range(DRAWS // ARRAY):
            fill(out=values)
            add_up(values)

    def stepped(dim, x):
        uniforms = np.empty(ARRAY * dim)
        for _ in range(DRAWS // ARRAY):
            rng.random(out=uniforms)
            rng.standard_normal(out=values)
            array_steps(uniforms, values, x, -1.0, 2.0)

    rows = {
        "uniform": (
            lambda: sum_uniforms(state, DRAWS),
            lambda: sum_numba_uniforms(rng, DRAWS),
            lambda: filled(rng.random),
        ),
        "normal": (
            lambda: sum_normals(state, DRAWS),
            lambda: sum_numba_normals(rng, DRAWS),
            lambda: filled(rng.standard_normal),
        ),
    }
    for dim in DIMS:
        x = np.empty(dim)
        rows[f"step, d = {dim}"] = (
            lambda x=x: own_steps(state, x, -1.0, 2.0, DRAWS),
            lambda x=x: numba_steps(rng, x, -1.0, 2.0, DRAWS),
            lambda dim=dim, x=x: stepped(dim, x),
        )
    return rows


def measure() -> str:
    """A table of nanoseconds, and of times over the generator in the kernel in brackets."""
    generators = {"PCG64": np.random.PCG64, "SFC64": np.random.SFC64}
    columns = {name: contenders(np.random.Generator(kind(0))) for name, kind in generators.items()}
    per_call = (DRAWS, DRAWS, DRAWS // ARRAY * ARRAY)
    lines = []
    for what in columns["PCG64"]:
        works = [(work, n) for name in columns for work, n in zip(columns[name][what], per_call, strict=True)]
        fastest = np.full(len(works), np.inf)
        for turn in range(TURNS + 1):  # the first one warms up
            for k, (work, n) in enumerate(works):
                start = time.perf_counter()
                work()
                if turn:
                    fastest[k] = min(fastest[k], (time.perf_counter() - start) / n * 1e9)
        own = min(fastest[0], fastest[3])
        others = (f"{fastest[k]:.2f} ({fastest[k] / own:.2f})" for k in (1, 4, 2, 5))
        lines.append([what, f"{own:.2f}", *others])
    names = [f"{place}, {name}" for place in ("numba's calls", "NumPy's arrays") for name in generators]
    return table(["ns", "in the kernel", *names], lines)


def findings(draws, seed) -> list[tuple[str, str, float, float]]:
    """Of each law, from words of its own: the same ones would show the same chance twice."""
    rows = []
    for k, (name, law) in enumerate(LAWS.items()):
        state = generator.open_state(np.random.SeedSequence([seed, k]))
        within = examine(law, state, draws)
        across = across_streams(law, seed + k * STREAMS, STREAMS, min(draws, 2**20) // 8)
        rows += [(name, *row) for row in (*within, *across)]
    return rows


def write_words(seed, stream) -> None:
    """Bits without end, for a program that tests them."""
    state, words = generator.open_state(np.random.SeedSequence(seed)), np.empty(2**15, dtype=np.uint64)
    try:
        while True:
            fill_words(state, words)
            stream.buffer.write(words.astype("<u8").tobytes())
    except BrokenPipeError:  # it has seen enough
        return


def count(text) -> int:
    try:
        value = float(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is no number") from None
    if not 1e4 <= value <= 1e12:
        raise ArgumentTypeError(f"{text} draws must lie between 1e4 and 1e12")
    return round(value)


def main(arguments=None) -> int:
    parser = parser_of("benchmarks.generator", __doc__)
    parser.add_argument("--draws", type=count, default=10**8, metavar="N", help="of each law; 1e8 by default")
    parser.add_argument("--seed", type=whole(), default=0)
    parser.add_argument("--raw", action="store_true", help="nothing but words of 64 bits, lowest byte first, for ever")
    options = parser.parse_args(arguments)
    if options.raw:
        write_words(options.seed, sys.stdout)
        return 0
    print(measure(), end="\n\n", flush=True)
    rows = findings(options.draws, options.seed)
    print(table(["law", "statistic", "value", "p"], [(law, what, f"{v:.6g}", f"{p:.3g}") for law, what, v, p in rows]))
    smallest = min(p for *_, p in rows)
    print(f"\nsmallest of {len(rows)} p-values: {smallest:.2g}; suspicious below {SUSPICIOUS:g}")
    return int(smallest < SUSPICIOUS)


if __name__ == "__main__":
    raise SystemExit(main())

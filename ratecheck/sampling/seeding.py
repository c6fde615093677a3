"""A random stream per name, so that results depend on what is run and never on order, workers or company."""

import hashlib

import numpy as np


def digest(names) -> bytes:
    return hashlib.sha256("\x1f".join(str(name) for name in names).encode()).digest()


def name(seed: int, *names) -> str:
    return f"{seed}-{digest(names).hex()[:16]}"


def stream(seed: int, *names) -> np.random.Generator:
    """A random generator that depends on a seed and on these names alone, as every random number of a study should."""
    words = np.frombuffer(digest(names), dtype="<u4")
    return np.random.default_rng(np.random.SeedSequence([seed, *words.tolist()]))


def names_of(algorithm, cost, horizon) -> list:
    """What a run's random numbers depend on, apart from the seed and the replicate."""
    return [cost, algorithm] if algorithm.anytime else [cost, algorithm, horizon]


def alignment(algorithm, cost, *, horizon, replicate, seed, kind="random") -> tuple[float, list[float]]:
    """The length of a replicate's initial cells, and its offset of the partition, as a fraction of a cell per axis."""
    if kind == "fixed":
        return algorithm.length(cost, horizon, 0.0), [0.0] * cost.dim
    names = names_of(algorithm, cost, horizon)
    fraction = stratified(replicate, stream(seed, *names, "octave").random())
    offset = stream(seed, *names, replicate, "offset").random(cost.dim).tolist()
    return algorithm.length(cost, horizon, fraction), offset


def stratified(index: int, shift: float) -> float:
    """Point `index` of a sequence in [0, 1): of the first 2^m points, each [j, j + 1) 2^-m holds one.

    Van der Corput's sequence (the binary digits of `index`, mirrored), shifted around the circle.  A point
    depends on its own index alone, so the strata stay filled when replicates are added, split up or run
    apart.
    """
    mirrored = 0.0
    weight = 0.5
    while index:
        index, digit = divmod(index, 2)
        mirrored += digit * weight
        weight /= 2
    return (mirrored + shift) % 1.0

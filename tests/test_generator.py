"""The kernels' random numbers: published bits, a literal transcription, and the laws they claim."""

import os
from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pytest
from numba import types
from scipy import stats

from ratecheck.sampling import generator, jit
from ratecheck.sampling.generator import (
    HEIGHT,
    INNER,
    SCALE,
    TABLE,
    bits,
    fill,
    normal,
    open_state,
    uniform,
)
from ratecheck.sampling.jit import compiled
from ratecheck.sampling.noise import Gaussian, Rademacher, StudentT, Uniform, sample
from studies.benchmarks.generator import fill_words, main, write_words
from studies.benchmarks.randomness import LAWS, Law, across_streams, anderson_darling, examine, fill_normal
from tests import reference_random
from tests.reference_random import Random

# The first words that the authors' program prints from the state (1, 2, 3, 4).
PUBLISHED = [
    41943041,
    58720359,
    3588806011781223,
    3591011842654386,
    9228616714210784205,
    9973669472204895162,
    14011001112246962877,
    12406186145184390807,
    15849039046786891736,
    10450023813501588000,
]

EVERY_LAW = [Gaussian(2.0), Uniform(0.5), Rademacher(3.0), StudentT(dof=2.5), StudentT(dof=5), StudentT(dof=1e100)]


def state_of(seed):
    return open_state(np.random.SeedSequence(seed))


@compiled
def fill_sample(law, scale, dof, state, out):
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    for k in range(out.size):
        out[k], s0, s1, s2, s3 = sample(law, scale, dof, s0, s1, s2, s3)
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3


def reference_sample(noise, rng):
    _, scale, dof = noise.numbers
    match noise:
        case Gaussian():
            return scale * rng.standard_normal()
        case Uniform():
            return scale * (2.0 * rng.random() - 1.0)
        case Rademacher():
            return scale if rng.random() < 0.5 else -scale
    return scale * rng.standard_t(dof)


# bits


def test_words_are_the_published_ones():
    words = np.empty(len(PUBLISHED), dtype=np.uint64)
    fill_words(np.array([1, 2, 3, 4], dtype=np.uint64), words)
    assert words.tolist() == PUBLISHED
    literal = Random([1, 2, 3, 4])
    assert [literal.next() for _ in PUBLISHED] == PUBLISHED


def test_a_state_is_four_words_of_its_seed_and_never_zero():
    sequence = np.random.SeedSequence([3, 1, 4])
    state = open_state(sequence)
    assert state.dtype == np.uint64
    assert state.tolist() == sequence.generate_state(4, np.uint64).tolist()

    class Zero(np.random.SeedSequence):
        def generate_state(self, n_words, dtype):
            return np.zeros(n_words, dtype)

    with pytest.raises(ValueError, match="four words of zero"):
        open_state(Zero())


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="there are no compiled types")
@pytest.mark.parametrize("draw", [bits, uniform, normal])
def test_the_state_stays_a_state(draw):
    """Signed beside unsigned would have become a float."""
    word = types.uint64
    draw.compile((word,) * 4)
    (signature,) = (s for s in draw.nopython_signatures if s.args == (word,) * 4)
    first = word if draw is bits else types.float64
    assert tuple(signature.return_type) == (first, word, word, word, word)


# the transcription


def test_tables_are_those_of_the_definition():
    r, v, x, heights, inner = reference_random.ziggurat()
    assert abs(Decimal(generator.R) - r) < Decimal("1e-40")
    assert abs(Decimal(generator.V) - v) < Decimal("1e-40")
    assert x[1] == generator.TAIL
    assert (TABLE[:, SCALE] * 2.0**52).tolist() == x
    assert TABLE[:, INNER].tolist() == inner
    assert HEIGHT.tolist() == heights


def test_layers_have_equal_areas_and_cover_the_curve():
    x = np.append(TABLE[:, SCALE] * 2.0**52, 0.0)
    assert np.allclose(x[1:-1] * np.diff(HEIGHT)[1:], float(generator.V), rtol=1e-13)
    assert np.allclose(HEIGHT[1:], stats.norm.pdf(x[1:]) / stats.norm.pdf(0), rtol=1e-14)
    assert x[0] * HEIGHT[1] == pytest.approx(float(generator.V), rel=1e-15)
    tail = stats.norm.sf(x[1]) / stats.norm.pdf(0)
    assert x[1] * HEIGHT[1] + tail == pytest.approx(float(generator.V), rel=1e-13)


@pytest.mark.parametrize("noise", EVERY_LAW, ids=repr)
def test_draws_equal_the_transcription(noise, any_seed):
    state, out = state_of(any_seed), np.empty(40_000)
    literal = Random(state)
    fill_sample(*noise.numbers, state, out)
    assert out.tolist() == [reference_sample(noise, literal) for _ in range(out.size)]
    assert state.tolist() == literal.s


def test_every_path_of_the_ziggurat_equals_the_transcription(any_seed):
    """From states a draw before words that the fast path refuses, the tail's among them; no chance involved."""
    state, out = state_of([any_seed, 1]), np.empty(1)
    paths = Random(state).paths
    words = np.empty(2_000_000, dtype=np.uint64)
    fill_words(state.copy(), words)
    j = ((words.view(np.int64) >> 11) | 1).astype(float)
    layer = words & np.uint64(255)
    refused = np.flatnonzero(abs(j) >= TABLE[layer, INNER])
    tails = refused[layer[refused] == 0]
    chosen = np.unique([*refused[:3000], *tails])
    assert tails.size > 100
    position = 0
    for k in chosen:
        fill(state, np.empty(k - position))
        position = k
        here, literal = state.copy(), Random(state)
        fill_normal(here, out)
        assert out[0] == literal.standard_normal()
        assert here.tolist() == literal.s
        for path, count in literal.paths.items():
            paths[path] += count
    assert min(paths.values()) > 100


def test_arrays_continue_where_the_last_ended():
    for filling in (fill, fill_normal):
        state, same = state_of(1), state_of(1)
        whole, first, second = np.empty(1000), np.empty(400), np.empty(600)
        filling(state, whole)
        filling(same, first)
        filling(same, second)
        assert whole.tolist() == [*first, *second]
        assert state.tolist() == same.tolist()


def test_uniforms_have_53_bits_and_stay_below_1():
    """The word of ones, which this state gives, is the largest uniform."""
    ones = 2**64 - 1
    out = np.empty(1)
    fill(np.array([0, 5, 7, ones], dtype=np.uint64), out)  # rotl(0 + ones) + 0
    assert out[0] == 1 - 2.0**-53
    fill(np.array([0, 5, 7, 0], dtype=np.uint64), out)
    assert out[0] == 0.0


def test_kernels_are_compiled_anew_when_the_generator_changes(monkeypatch):
    read = []
    monkeypatch.setattr("pathlib.Path.read_bytes", lambda path: read.append(path.name) or b"")
    jit.fingerprint()
    assert "generator.py" in read


# the laws; each p-value is below its bound by chance once in 1e8 times, so that no test here fails by chance more often
# than once in 1e6, the skewness of high moments included


def suspects(rows):
    return [row for row in rows if not row[-1] > 1e-8]


@pytest.mark.parametrize("law", LAWS)
def test_moments_distribution_tails_and_lags(law, any_seed):
    assert suspects(examine(LAWS[law], state_of([any_seed, 2]), 4_000_000)) == []


@pytest.mark.parametrize("law", LAWS)
def test_streams_of_neighbouring_seeds_are_not_correlated(law, any_seed):
    assert suspects(across_streams(LAWS[law], 1000 * any_seed, 64, 2**14)) == []


def test_the_tail_has_its_weight_and_its_shape(any_seed):
    """Beyond where the ziggurat leaves it to another method, and beyond 5σ, in 1e8 draws."""
    state, block = state_of([any_seed, 3]), np.empty(2**17)
    far = []
    for _ in range(763):
        fill_normal(state, block)
        far.append(block[abs(block) > generator.TAIL])
    far, n = np.concatenate(far), 763 * block.size
    for edge in (generator.TAIL, 5.0):
        assert stats.binomtest(int((abs(far) > edge).sum()), n, 2 * stats.norm.sf(edge)).pvalue > 1e-8
    assert stats.binomtest(int((far > 0).sum()), far.size).pvalue > 1e-8
    beyond = stats.norm.sf(abs(far)) / stats.norm.sf(generator.TAIL)
    assert stats.kstest(beyond, "uniform").pvalue > 1e-8


@pytest.mark.parametrize("noise", EVERY_LAW, ids=repr)
def test_noise_laws_against_scipy(noise, any_seed):
    out = np.empty(200_000)
    fill_sample(*noise.numbers, state_of([any_seed, 4]), out)
    _, scale, dof = noise.numbers
    match noise:
        case Rademacher():
            assert set(out) == {-scale, scale}
            assert stats.binomtest(int((out > 0).sum()), out.size).pvalue > 1e-8
            return
        case Gaussian():
            law = stats.norm(0, scale)
        case Uniform():
            law = stats.uniform(-scale, 2 * scale)
        case StudentT():
            law = stats.t(dof, 0, scale) if dof < 1e10 else stats.norm(0, scale)
    assert stats.kstest(out, law.cdf).pvalue > 1e-8


def wrong(fault):
    """Draws that are nearly normal, from NumPy, so that `examine` is known to see what it looks for."""
    rng = np.random.default_rng(0)

    def fill_wrong(state, out):
        out[:] = fault(rng.standard_normal(out.size))

    return Law(fill_wrong, LAWS["normal"].standardised, LAWS["normal"].cdf, LAWS["normal"].moment, (4.0, 5.0))


FAULTS = {
    "moment 1": lambda z: z + 0.005,
    "moment 2": lambda z: z * 1.005,
    "moment 8": lambda z: np.clip(z, -3.65, 3.65),
    "beyond 4 σ": lambda z: np.clip(z, -4.0, 4.0),
    "Kolmogorov": lambda z: np.where(abs(z) < 0.05, 0.05, z),
    "Anderson": lambda z: np.where(abs(z) > 2.5, 1.1 * z, z),
    "correlation, lags": lambda z: (z + 0.01 * np.roll(z, 7)) / np.hypot(1.0, 0.01),
    "correlation of squares": lambda z: z * np.where(abs(np.roll(z, 1)) > 0.6745, 1.06, 0.94) / np.hypot(1.0, 0.06),
}


@pytest.mark.parametrize("what", FAULTS)
def test_faults_are_seen(what):
    assert any(name.startswith(what) for name, _, _ in suspects(examine(wrong(FAULTS[what]), None, 4_000_000)))


def test_streams_with_something_in_common_are_seen():
    common = np.random.default_rng(0).standard_normal(2**14)
    law = wrong(lambda z: z + 0.05 * common)
    assert suspects(across_streams(law, 0, 64, 2**14))


def test_anderson_darling_against_its_definition():
    """Frequencies of 100,000 sums of Z_j² / (j (j + 1)), the terms beyond j = 100 replaced by their mean; false alarm
    below 1e-6."""
    j = np.arange(1, 101)
    sums = np.random.default_rng(0).chisquare(1, (100_000, j.size)) @ (1 / (j * (j + 1))) + 1 / (j.size + 1)
    for statistic in (0.3, 0.5, 1.0, 2.0, 4.0, 6.0):
        count = int((sums > statistic).sum())
        assert stats.binomtest(count, sums.size, anderson_darling(statistic)).pvalue > 1e-7
    assert anderson_darling(2.492) == pytest.approx(0.05, rel=1e-3)  # in every table


# the command


@pytest.mark.slow
def test_benchmark_prints_tables(capsys, monkeypatch):
    monkeypatch.setattr("studies.benchmarks.generator.TURNS", 1)
    assert main(["--draws", "131072"]) == 0
    printed = capsys.readouterr().out
    for words in ("| step, d = 3 |", "numba's calls, SFC64", "| normal | Anderson-Darling", "smallest of"):
        assert words in printed


def test_raw_words_end_with_their_reader():
    class Reader:
        read = b""

        def write(self, some):
            if self.read:
                raise BrokenPipeError
            self.read = some

    reader = Reader()
    write_words(7, SimpleNamespace(buffer=reader))
    literal = Random(state_of(7))
    assert [int(word) for word in np.frombuffer(reader.read, "<u8")[:100]] == [literal.next() for _ in range(100)]

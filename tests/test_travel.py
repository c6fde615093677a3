"""A cost of one's own reaches other processes, whatever its formula is, and is the same cost there."""

import functools
import hashlib
import multiprocessing
import os
import pickle
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numba import njit

import function_zoo as zoo
from tests.test_zoo import compiled_values

pytestmark = pytest.mark.slow

BOX = {"lower": [-1.0, -1.5], "upper": [1.0, 1.5], "minimum": 0.0, "minimisers": [[0.0, 0.0]]}
POINTS = np.random.default_rng(0).uniform(-1, 1, (20, 2))


def own(formula, **parameters):
    return zoo.Cost("own", 2, formula, constants=zoo.get("cone", 2).constants, parameters=parameters, **BOX)


def bowl(x):
    return x[0] ** 2 + 3 * x[1] ** 2


def tilted(slope, weights):
    def formula(x):
        return slope * np.abs(x[0]) + weights[0] * x[1] ** 2 + weights[1] * np.abs(x[1])

    return formula


def nested(x):
    def square(t):
        return t * t

    return square(x[0]) + 2 * sum([square(x[i]) for i in range(1, 2)])


def with_helper(helper):
    return lambda x: helper(x[0]) + helper(x[1])


@njit
def compiled_square(t):
    return t * t


def typed():
    namespace = {"np": np}
    exec("def formula(x): return np.abs(x[0]) + x[1] ** 2", namespace)  # as at a prompt
    return namespace["formula"]


COSTS = {
    "module": own(bowl),
    "lambda": own(lambda x: np.abs(x[0]) + x[1] ** 2, scale=2.0, centre=(0.0, 0.0)),
    "closure": own(tilted(3.5, (0.5, 0.25)), slope=3.5),
    "nested": own(nested),
    "compiled": own(njit(bowl)),
    "helper": own(with_helper(compiled_square)),
    "typed": own(typed()),
    "another cost's": replace(zoo.get("quadratic", 2), name="borrowed", registered=False),
    "registered": zoo.get("cusp", 2, power=0.7),
}
every_kind = pytest.mark.parametrize("kind", COSTS)


def arrived(cost):
    """What is to be the same wherever the cost is."""
    box = [cost.lower.tolist(), cost.upper.tolist(), cost.minimum, cost.minimisers.tolist()]
    values = [cost.many(POINTS).tolist(), cost(POINTS[0]), compiled_values(cost.compiled, POINTS).tolist()]
    frozen = [getattr(cost, name).flags.writeable for name in ("lower", "upper", "minimisers")]
    return [str(cost), cost.registered, cost.fingerprint, box, cost.constants, dict(cost.parameters), values, frozen]


@every_kind
@pytest.mark.parametrize("protocol", [pickle.DEFAULT_PROTOCOL, pickle.HIGHEST_PROTOCOL, 0])
def test_a_copy_is_the_same_cost(kind, protocol):
    cost = COSTS[kind]
    expected = arrived(cost)  # this compiles it, and compiled code cannot be sent
    again = pickle.loads(pickle.dumps(cost, protocol))
    assert arrived(again) == expected
    assert arrived(pickle.loads(pickle.dumps(again, protocol))) == expected
    with pytest.raises(TypeError):
        again.parameters["scale"] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        again.lower[0] = 0.0


def test_spawned_processes_have_the_same_costs():
    expected = [arrived(cost) for cost in COSTS.values()]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(arrived, COSTS.values()) == expected


@contextmanager
def dask_client():
    distributed = pytest.importorskip("distributed")
    where = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, **where) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.mark.slow
def test_dask_workers_have_the_same_costs():
    expected = [arrived(cost) for cost in COSTS.values()]
    with dask_client() as client:
        assert client.gather([client.submit(arrived, cost, pure=False) for cost in COSTS.values()]) == expected


SCRIPT = """
import multiprocessing
import numpy as np
from tests.test_travel import arrived, dask_client, own

SLOPE = 4.0

def slide(t):
    return SLOPE * np.abs(t)

def formula(x):
    return np.abs(x[0]) + SLOPE * x[1] ** 2

def uncompiled(x):
    return slide(x[0]) + x[1] ** 2

if __name__ == "__main__":
    cost, points = own(formula, slope=SLOPE), np.ones((3, 2))
    with multiprocessing.get_context("spawn").Pool(1) as pool, dask_client() as client:
        assert pool.apply(arrived, (cost,)) == arrived(cost)
        assert client.submit(arrived, cost, pure=False).result() == arrived(cost)
        cost = own(uncompiled)
        assert pool.apply(cost.many, (points,)).tolist() == cost.many(points).tolist()
        assert client.submit(cost.many, points, pure=False).result().tolist() == cost.many(points).tolist()
    print("the same")
"""


@pytest.mark.slow
def test_a_formula_of_a_script_reaches_other_processes(tmp_path):
    pytest.importorskip("distributed")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    paths = {"PYTHONPATH": str(Path(__file__).parents[1])}
    out = subprocess.run([sys.executable, script], env=os.environ | paths, capture_output=True, text=True)
    assert out.stdout.strip() == "the same", out.stderr


def test_a_formula_that_has_a_name_needs_no_machinery_to_be_sent():
    code = (
        "import pickle, statistics, sys, function_zoo as zoo\n"
        "from dataclasses import replace\n"
        "cost = replace(zoo.get('cone', 2), registered=False, formula=statistics.fmean)\n"
        "print(pickle.loads(pickle.dumps(cost))([1.0, 2.0]), 'numba' in sys.modules)\n"
        "cost = replace(cost, formula=lambda x: statistics.fmean(x))\n"
        "print(pickle.loads(pickle.dumps(cost))([1.0, 2.0]), 'numba.cloudpickle' in sys.modules)\n"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["1.5", "False", "1.5", "True"]


@pytest.mark.parametrize("kind", ["module", "lambda", "closure", "typed", "another cost's", "registered"])
def test_fingerprints_of_formulas_without_inner_functions_stay(kind):
    """Stored runs are found by them."""
    cost = COSTS[kind]
    code, cells = cost.formula.__code__, cost.formula.__closure__ or ()
    box = [cost.lower.tolist(), cost.upper.tolist(), cost.minimum, cost.minimisers.tolist()]
    captured = [repr(cell.cell_contents) for cell in cells]
    parts = [code.co_code.hex(), code.co_consts, code.co_names, captured, box, cost.constants]
    assert cost.fingerprint == hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def test_fingerprints_count_what_is_inside():
    def with_inner(inner):
        return own(lambda x: inner(x[0]) + x[1] ** 2).fingerprint

    for wrap in (lambda f: f, njit, functools.partial, lambda f: (1, [f])):
        assert with_inner(wrap(lambda t: t * 2)) == with_inner(wrap(lambda t: t * 2))
        assert with_inner(wrap(lambda t: t * 2)) != with_inner(wrap(lambda t: t * 3))
    assert with_inner(functools.partial(bowl, 2)) != with_inner(functools.partial(bowl, 3))
    assert own(lambda x: sum([t * 2 for t in x])).fingerprint != own(lambda x: sum([t * 3 for t in x])).fingerprint


def test_fingerprints_of_formulas_that_call_themselves():
    def power(t, n):
        return 1.0 if n == 0 else t * power(t, n - 1)

    assert own(lambda x: power(x[0], 2)).fingerprint == own(lambda x: power(x[0], 2)).fingerprint

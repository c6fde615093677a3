"""The mean regrets of semantics 1, whose random numbers were NumPy's, are those of the present engine."""

import math

import pytest

import function_zoo as zoo
import ratecheck as rc

pytestmark = pytest.mark.slow

RUNS = 400
# Mean regret after 1000 steps and its standard error, of 400 runs with semantics 1: uniform bins, adaptive bins.
BEFORE = {
    ("ackley", 1): ((3950.131, 61.8), (15589.09, 161)),
    ("ackley", 2): ((8977.209, 87.3), (20661.19, 15.5)),
    ("branin", 2): ((4435.42, 36.4), (25519.25, 368)),
    ("cone", 1): ((682.1342, 4.38), (588.0345, 5.65)),
    ("cone", 2): ((2384.675, 13.8), (1708.623, 8.43)),
    ("cusp", 1): ((1943.296, 13), (1250.481, 4.85)),
    ("cusp", 2): ((5230.639, 21.5), (3568.259, 11.3)),
    ("double_sine", 1): ((296.4662, 0.72), (303.6124, 1.9)),
    ("double_sine", 2): ((844.6345, 1.12), (877.036, 5.12)),
    ("garland", 1): ((419.5031, 0.288), (460.3113, 2.1)),
    ("garland", 2): ((929.2681, 0.324), (1074.284, 4.13)),
    ("griewank", 1): ((340.4037, 9.8), (771.0132, 6.43)),
    ("griewank", 2): ((745.8644, 6.33), (1041.606, 1.54)),
    ("himmelblau", 2): ((16886.53, 188), (161859.3, 2.94e03)),
    ("mixed_powers", 1): ((680.5978, 4.21), (585.3396, 5.27)),
    ("mixed_powers", 2): ((2535.758, 14.8), (1939.285, 11)),
    ("plateau", 1): ((111.0143, 0.765), (173.7316, 1.98)),
    ("plateau", 2): ((548.7537, 1.81), (837.5798, 5.03)),
    ("power", 1): ((315.4048, 4.55), (390.4226, 6.82)),
    ("power", 2): ((1406.386, 10.2), (1195.591, 9.12)),
    ("quadratic", 1): ((218.3167, 4.06), (318.8966, 7.43)),
    ("quadratic", 2): ((1103.419, 4.56), (1010.521, 11.6)),
    ("quartic", 1): ((131.3589, 0.89), (324.3133, 8.53)),
    ("quartic", 2): ((815.4332, 7.63), (1467.254, 27.5)),
    ("rastrigin", 1): ((4427.26, 120), (16792.84, 112)),
    ("rastrigin", 2): ((9738.886, 176), (50312.43, 649)),
    ("ring", 1): ((223.5662, 2.78), (793.9106, 12.8)),
    ("ring", 2): ((509.3562, 6.43), (3083.748, 54.7)),
    ("ring_cone", 1): ((715.0682, 2.97), (742.7686, 4.42)),
    ("ring_cone", 2): ((1405.496, 3.12), (1598.07, 7.19)),
    ("sine", 1): ((232.0851, 1.65), (338.6075, 2.65)),
    ("sine", 2): ((998.2106, 2.02), (1264.631, 7.88)),
    ("six_hump_camel", 2): ((2982.23, 25.3), (45146.09, 1.84e03)),
    ("twin_cone", 1): ((709.9605, 3.62), (699.3243, 3.82)),
    ("twin_cone", 2): ((2156.856, 12.9), (2099.782, 7.23)),
    ("valley", 2): ((1708.075, 11.9), (1359.713, 10.5)),
    ("weierstrass", 1): ((734.3976, 8.32), (1063.164, 10)),
    ("weierstrass", 2): ((3216.316, 33.6), (4769.432, 41.8)),
}
SIGMAS = 6  # of 76 comparisons, one goes so far by chance once in six million times


@pytest.mark.parametrize(("name", "dim"), BEFORE)
def test_mean_regrets_agree(name, dim, any_seed):
    cost = zoo.get(name, dim=dim)
    for algorithm, (mean, error) in zip((rc.UniformBins(), rc.AdaptiveBins()), BEFORE[name, dim], strict=True):
        regret = rc.simulate(algorithm, cost, [1000], RUNS, seed=any_seed, workers=1).frame.regret
        now, now_error = regret.mean(), regret.std() / math.sqrt(RUNS)
        assert abs(now - mean) < SIGMAS * math.hypot(error, now_error)

"""Moments and packing constants against independent computations."""

import math

import numpy as np
import pytest

from function_zoo.cubes import norm_moment, packing_constant
from function_zoo.measure import cube_rule


@pytest.mark.parametrize("power", [0.1, 0.5, 1.0, 1.5, 1.99, 2.0])
@pytest.mark.parametrize("dim", [1, 2, 3])
def test_norm_moment_against_gauss_quadrature(dim, power):
    # E |U|^p = d/(d+p) E |(1, U_2, ..., U_d)|^p by homogeneity, and that integrand is smooth.
    x, w = np.polynomial.legendre.leggauss(40)
    x, w = (x + 1) / 2, w / 2
    face = np.array(1.0)
    weight = np.array(1.0)
    for _ in range(dim - 1):
        face = np.add.outer(face, x**2)
        weight = np.multiply.outer(weight, w)
    expected = dim / (dim + power) * np.sum(weight * face ** (power / 2))
    assert norm_moment(dim, power) == pytest.approx(expected, rel=1e-11)


def test_norm_moment_against_robbins_constant():
    # Mean distance from a corner of the unit cube, Robbins (1978)
    closed = (math.sqrt(3) / 4) + math.log((1 + math.sqrt(3)) / math.sqrt(2)) - math.pi / 24
    assert norm_moment(3, 1.0) == pytest.approx(closed, rel=1e-11)


@pytest.mark.parametrize("width", [0.2, 0.63, 1.0, 2.7, 11.0])
@pytest.mark.parametrize("dim", [1, 2, 3])
def test_packing_constant_against_a_scan_of_cubes(dim, width):
    # An open cube of side s holds exactly ceil(s/a)^d points at distance >= a.
    s_over_a = np.concatenate([np.geomspace(1e-6, 500, 200_001), np.arange(1, 500) + 1e-9])
    scan = np.max(np.ceil(s_over_a) ** dim / (1 + (s_over_a / width) ** dim))
    limit = width**dim  # of the ratio as a -> 0
    assert packing_constant(dim, width) == pytest.approx(max(scan, limit), rel=1e-3)


def test_packing_constant_of_the_box_itself():
    # P([-1, 1]^d, a) = (floor(2/a) + 1)^d for every e, with beta = 0
    a = 2 / np.concatenate([np.arange(1, 400), np.linspace(0.1, 50, 5000)])
    for dim in (1, 2, 3):
        scan = np.max((np.floor(2 / a + 1e-12) + 1) ** dim / (1 + a**-dim))
        assert packing_constant(0, 1.0, flat_dim=dim) == pytest.approx(max(scan, 2.0**dim), rel=1e-9)


@pytest.mark.parametrize("width", [0.2, 0.9, 3.3])
@pytest.mark.parametrize(("ball", "flat"), [(1, 1), (1, 2), (2, 1)])
def test_packing_constant_of_a_slab_against_a_scan(ball, flat, width):
    # ceil(s/a)^b (floor(2/a) + 1)^f points, s = width e^(1/alpha) >= width a
    a = 2 / np.concatenate([np.arange(1, 3000), np.geomspace(1, 3000, 3001)])[:, None]
    s = width * a * np.concatenate([np.geomspace(1, 50, 999), (np.arange(1, 50) + 1e-9) / width])[None, :]
    s = np.where(s >= width * a, s, np.nan)
    points = np.ceil(s / a) ** ball * (np.floor(2 / a + 1e-12) + 1) ** flat
    scan = np.nanmax(points / (1 + (s / width) ** ball / a ** (ball + flat)))
    bound = packing_constant(ball, width, flat_dim=flat)
    assert scan <= bound * (1 + 1e-9)
    assert bound <= 1.15 * scan  # not far above what is needed


@pytest.mark.parametrize(("dim", "size"), [(1, 255), (2, 255), (3, 127), (3, 2039)])
def test_cube_rule_integrates(dim, size):
    points, weights = cube_rule(dim, size)
    assert np.all(np.abs(points) <= 0.5)
    assert weights.sum() == pytest.approx(1)
    assert weights @ points == pytest.approx(np.zeros(dim), abs=1e-15)
    assert weights @ (points[:, 0] * points[:, -1]) == pytest.approx(0 if dim > 1 else 1 / 12, abs=1e-4)
    assert weights @ np.sum(points**2, axis=1) == pytest.approx(dim / 12, rel=1e-3)
    assert weights @ np.linalg.norm(points, axis=1) == pytest.approx(norm_moment(dim, 1.0) / 2, rel=2e-3)

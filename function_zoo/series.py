"""What is known of weierstrass relative to its minimiser: the gap and the means of the whole series, at every scale.

f = scale sum_i sum_n ratio^n s_n(z_i) with s_n(t) = 1 - cos(pi 3^n t).  Around t, terms are of three kinds.  Those
before, whose phases pi 3^n t are small, are a geometric series of Taylor polynomials.  Then WINDOW terms are summed
one by one, as many as a number has digits.  Of those after, roundings hide the phases: each counts with its mean, 1,
and they are a geometric series again.
"""

from __future__ import annotations

import math

import numpy as np

TERMS = 28  # of the formula: rough down to 3^-28, about 4e-14; below that it is smooth
ON = 600  # terms of the gap and the mean: rough down to 3^-600, about 1e-286
LOW = 3e-3  # the phase at which the window begins
WINDOW = 40
LOG3 = math.log(3)


def number_of_terms(ratio):
    """Where terms beyond those of the formula would show on the box, gap and mean end with the formula, too."""
    return ON if ratio**TERMS < 1e-6 else TERMS


def terms_before(ratio):
    """The number of terms before the window, and their sum."""
    terms = number_of_terms(ratio)

    def first(phase):
        """How many terms come before phases matter."""
        return np.minimum(terms, np.ceil(np.log(np.maximum(1.0, LOW / np.maximum(phase, 1e-300))) / LOG3))

    def before(t, half):
        """The sum of all terms, down to 3^-infinity, before one with phases from t - half to t + half and weight 1.

        s = u^2/2 - u^4/24, averaged over phases u; a term before has a third of the phases and 1/ratio of the weight.
        """
        square, fourth = t**2 + half**2 / 3, t**4 + 2 * (t * half) ** 2 + half**4 / 5
        return square / (2 * (9 * ratio - 1)) - fourth / (24 * (81 * ratio - 1))

    return first, before


def gap_of_series(dim, scale, ratio):
    terms, (first, before) = number_of_terms(ratio), terms_before(ratio)
    last = scale * ratio**terms

    def gap(z):
        total = 0.0 * z[0]
        for i in range(dim):
            t = np.pi * np.abs(z[i])
            n = first(t)
            phase, weight = t * 3.0**n, scale * ratio**n
            total = total + (weight * before(phase, 0.0) - scale * before(t, 0.0))
            s = 2 * np.sin(0.5 * phase) ** 2
            for _ in range(WINDOW):
                weight = weight * (n < terms)
                total = total + weight * s
                s = np.minimum(2.0, s * (3 - 2 * s) ** 2)
                weight = weight * ratio
                n = n + 1
            total = total + np.maximum(0.0, weight - last) / (1 - ratio)
        return total

    return gap


def mean_of_series(dim, scale, ratio):
    terms, (first, before) = number_of_terms(ratio), terms_before(ratio)
    last = scale * ratio**terms

    def mean(z, a):
        # of 1 - cos(pi 3^n t) over an interval of length a around t: s_n + (1 - s_n) (1 - sinc(3^n a / 2))
        total = 0.0
        for i in range(dim):
            t, half = np.pi * np.abs(z[i] + a / 2), 0.5 * np.pi * a
            n = first(max(t, half))
            phase, width, weight = t * 3.0**n, half * 3.0**n, scale * ratio**n
            total = total + (weight * before(phase, width) - scale * before(t, half))
            s = 2 * np.sin(0.5 * phase) ** 2
            wave = np.sin(width)
            for _ in range(WINDOW):
                weight = weight * (n < terms)
                small = width**2 / 6 * (1 - width**2 / 20 * (1 - width**2 / 42))
                fall = small if width < 3e-2 else 1 - wave / width
                total = total + weight * (s + (1 - s) * fall)
                s = np.minimum(2.0, s * (3 - 2 * s) ** 2)
                wave = np.minimum(1.0, np.maximum(-1.0, wave * (3 - 4 * wave**2)))  # sin 3t
                width = 3 * width
                weight = weight * ratio
                n = n + 1
                if width > 1e9:  # the means of the terms after are 1
                    break
            total = total + max(0.0, weight - last) / (1 - ratio)
        return total

    return mean

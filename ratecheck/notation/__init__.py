r"""Rates as people write them: T^(2/3) (ln T)^(1/3), √(T ln T), \tilde O(T^{1/2}), R/T = T^-0.5, h^2.

    side     = product, after "R =", "R/T =", "regret <=", … or nothing
    product  = factor { ["*" | "/"] factor }
    factor   = atom ["^" exponent]
    atom     = number | name | "(" product ")" | function [index] atom | O "(" product ")" | \frac{product}{product}
    exponent = a number, or an arithmetic expression of numbers in brackets

Numbers are fractions, so that T^(2/3) is 2/3 as Python has it.  Constant factors do not count.  What two people could
read in two ways, such as T^1/2 or ln T^2, is refused with both ways of writing it.
"""

from .reader import LONGEST, read
from .tokens import NotationError

__all__ = ["LONGEST", "NotationError", "read"]

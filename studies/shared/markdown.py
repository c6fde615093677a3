"""Tables, numbers and lists in markdown, as the tool's own reports write them."""

# ruff: noqa: F401  (studies import them from here)

from ratecheck.display import (
    MARKS,
    counted,
    estimate,
    fenced,
    fixed,
    fraction,
    general,
    horizon_text,
    interval,
    listing,
    table,
)

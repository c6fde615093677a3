"""Three tables with textbook rates, made here: `python -m ratecheck.examples` makes, fits and judges them."""

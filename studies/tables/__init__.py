"""Three tables with textbook rates, made here: `python -m studies.tables` makes, fits and judges them."""

"""Research that uses ratecheck: declared studies, the ledger of a paper's claims, calibration and benchmarks."""

"""Does the statistics layer keep its promises?  `python -m studies.calibration` measures it on synthetic runs.

A scenario makes regrets with known E R(T).  The layer sees the runs only.  Counted are the intervals that hold the
truth, the diagnostics that complain about true models, and the verdicts that are wrong.
"""

"""The benchmark's table and figure; its times are looked at, not tested."""

import pandas as pd

import function_zoo as zoo
import ratecheck as rc
from ratecheck.engine_benchmark import against_targets, line, measure
from ratecheck.figures import engine_speed


def test_table_targets_and_figure(tmp_path):
    algorithms = (rc.AdaptiveBins(mu="min"), rc.AdaptiveBins(mu="theorem"), rc.UniformBins())
    rows = [measure(algorithm, zoo.get("cone", dim=3), 3000, steps=6000) for algorithm in algorithms]
    for row in rows:
        assert row["ratio"] == row["ns"] / row["floor"] > 0
        assert f"{row['cells']} cells" in line(row)
    names = [name for name, _, _ in against_targets(pd.DataFrame(rows))]
    assert len(set(names)) == 5
    engine_speed(pd.DataFrame(rows), tmp_path / "speed.png")
    assert (tmp_path / "speed.png").read_bytes().startswith(b"\x89PNG")

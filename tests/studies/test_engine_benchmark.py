"""The benchmark's table and figure; its times are looked at, not tested."""

import pandas as pd

import function_zoo as zoo
from studies.benchmarks.draw import engine_speed
from studies.benchmarks.engine import PROMISED, against_targets, line, measure, memory


def test_table_targets_and_figure(tmp_path):
    cost = zoo.get("cone", dim=3)
    rows = [measure(held, s, cost, 3000, steps=6000) for held in PROMISED for s in held.settings]
    for row in rows:
        assert row["ratio"] == row["ns"] / row["floor"] > 0
        assert f"{row['cells']} cells" in line(row)
    names = [name for name, _, _ in against_targets(pd.DataFrame(rows))]
    assert len(set(names)) == len(names) >= 2 * len(PROMISED)
    figure = engine_speed(pd.DataFrame(rows), {held.name: held.worst for held in PROMISED})
    figure.savefig(tmp_path / "speed.png")
    assert len(figure.axes) == len(rows)
    assert (tmp_path / "speed.png").read_bytes().startswith(b"\x89PNG")


def test_memory_is_that_of_the_cells():
    name, bytes_per_cell, most = memory(3000)
    assert name
    assert 0 < bytes_per_cell < most

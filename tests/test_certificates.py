"""Certificates: what both verifiers accept, and what they refuse."""

import copy
import json

import pytest

import function_zoo as zoo
import ratecheck as rc
from ratecheck.lower_bound import ball, bound, inequalities, verify
from studies.lower_bound import second

CASES = [
    ("quadratic", 1),
    ("cone", 2),
    ("cusp", 1),
    ("power", 2),
    ("ackley", 1),
    ("valley", 2),
    ("weierstrass", 1),
    ("six_hump_camel", 2),  # its minimum needs derivatives
    ("garland", 1),  # two functions, and many local minima
    ("rastrigin", 1),  # two functions
    ("double_sine", 1),
]


@pytest.fixture(scope="module")
def bounds():
    return {}


def bound_of(bounds, name, dim):
    if (name, dim) not in bounds:
        bounds[name, dim] = rc.lower_bound(zoo.get(name, dim), 1e4)
    return bounds[name, dim]


@pytest.mark.parametrize(("name", "dim"), CASES)
def test_both_verifiers_prove_the_bound(bounds, name, dim, tmp_path):
    found = bound_of(bounds, name, dim)
    assert found.certified
    assert 0 < found.regret <= found.family.found.regret
    assert found.regret >= 0.99 * found.family.found.regret  # little is lost by rounding to the safe side
    found.save(tmp_path / "certificate.json")
    read = json.loads((tmp_path / "certificate.json").read_text())
    assert read == json.loads(json.dumps(found.certificate))
    assert len(inequalities.verify(read)) >= 7
    assert len(second.verify(read)) >= 7


BETTER = {
    "regret": lambda c: c.update(regret=c["regret"] * 1.02),
    "minimum": lambda c: c.update(minimum=c["minimum"] + 3e-3 * c["depth"]),
    "horizon": lambda c: c.update(horizon=c["horizon"] * 0.9),
    "sigma": lambda c: c.update(sigma=c["sigma"] * 0.9),
    "depth beyond (b)": lambda c: c.update(depth=c["depth"] * 1.1),
    "box": lambda c: c["box"][0].__setitem__(0, c["box"][0][0] + 1.9 * (c["box"][1][0] - c["box"][0][0])),
    "component": lambda c: c["components"][0].update(least=c["components"][0]["least"] + 0.01 * c["depth"]),
    "no component": lambda c: c["components"].clear(),
    "another formula": lambda c: c["formula"][-1]["nodes"].append(["c", 5.0]),
    "alpha": lambda c: c.update(alpha=3.0),
    "unknown bound": lambda c: c.update(bound="all"),
    "a text": lambda c: c.update(depth="deep"),
    "not a number": lambda c: c.update(regret=float("nan")),
    "a list": lambda c: c.update(formula=7),
}
MANY = {
    "eta": lambda c: c.update(eta=c["eta"] * 1.05),
    "effective": lambda c: c.update(effective=c["effective"] * 1.05),
    "overlap 1": lambda c: c.update(overlap_1=c["overlap_1"] * 0.95),
    "overlap 2": lambda c: c.update(overlap_2=c["overlap_2"] * 0.95),
    "shared": lambda c: c.update(shared=c["shared"] * 0.95),
    "information": lambda c: c.update(information=c["information"] * 0.95),
    "one miss": lambda c: c["misses"].__setitem__(3, c["misses"][3] * 0.95),
    "fewer misses": lambda c: c["misses"].pop(),
    "no misses": lambda c: c["misses"].clear(),
    "a miss beyond 1": lambda c: c["misses"].__setitem__(0, -1.0),
    "a wider lattice": lambda c: c["lattice"]["last"].__setitem__(0, 10**6),
    "half an index": lambda c: c["lattice"]["last"].__setitem__(0, 0.5),
    "a closer lattice": lambda c: c["lattice"].update(per_length=8),
    "blocks cut short": lambda c: c["lattice"].update(blocks=c["lattice"]["blocks"][:-3]),
    "one block": lambda c: c["lattice"].update(blocks="."),
    "an unknown cut": lambda c: c["lattice"].update(blocks="z"),
}
TWO = {
    "s": lambda c: c.update(s=c["s"] * 1.05),
    "kappa": lambda c: c.update(kappa=c["kappa"] * 0.95),
    "place": lambda c: c["place"].__setitem__(0, c["minimiser"][0]),
    "attained": lambda c: c.update(attained=c["minimum"] - 1.0),
    "value": lambda c: c.update(value=c["value"] - 0.05 * c["depth"]),
    "fewer cells": lambda c: c.update(cells=3),
}
TAMPERED = [("quadratic", 1, *item) for item in (BETTER | MANY).items()]
TAMPERED += [("cone", 2, *item) for item in MANY.items()]
TAMPERED += [("rastrigin", 1, *item) for item in (BETTER | TWO).items()]


@pytest.mark.parametrize(("name", "dim", "what", "change"), TAMPERED, ids=[f"{n}-{w}" for n, _, w, _ in TAMPERED])
def test_both_verifiers_refuse_a_certificate_that_was_improved(bounds, name, dim, what, change, tmp_path, capsys):
    certificate = copy.deepcopy(bound_of(bounds, name, dim).certificate)
    change(certificate)
    with pytest.raises(ball.NotProved):
        inequalities.verify(certificate)
    (tmp_path / "certificate.json").write_text(json.dumps(certificate))
    assert second.main([str(tmp_path / "certificate.json")]) == 1
    assert capsys.readouterr().out.startswith("REFUSED")


def test_without_the_extra_the_number_is_said_not_to_be_certified(monkeypatch):
    monkeypatch.setattr(bound, "find_spec", lambda name: None)
    found = rc.lower_bound(zoo.get("cone", 1), 1e3)
    assert not found.certified
    assert "NOT certified" in str(found)
    assert "inequalities" not in found.certificate


def test_the_precision_of_python_flint_is_put_back():
    import flint

    before = flint.ctx.prec
    rc.lower_bound(zoo.get("cone", 1), 1e3)
    assert flint.ctx.prec == before


def test_the_first_verifier_says_whose_formula_it_is(bounds, tmp_path, capsys):
    path = tmp_path / "certificate.json"
    certificate = copy.deepcopy(bound_of(bounds, "quadratic", 1).certificate)
    path.write_text(json.dumps(certificate))
    assert verify.main([str(path)]) == 0
    assert "the formula is that of quadratic(dim=1, scale=10.0" in capsys.readouterr().out
    certificate["cost"] = certificate["cost"].replace("scale=10.0", "scale=11.0")
    path.write_text(json.dumps(certificate))
    assert verify.main([str(path)]) == 1
    assert "are not those of quadratic" in capsys.readouterr().out
    certificate["cost"] = "somebody's"
    path.write_text(json.dumps(certificate))
    assert verify.main([str(path)]) == 0
    assert "nobody's that the zoo knows" in capsys.readouterr().out
    path.write_text("7")
    assert verify.main([str(path)]) == 1
    assert verify.main([str(tmp_path / "nowhere.json")]) == 2
    assert verify.main([]) == 2

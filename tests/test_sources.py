"""A plug-in's fingerprint covers the modules of its own project that it imports, and nothing else."""

import hashlib
import importlib
import linecache
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import ratecheck as rc
from ratecheck.algorithms import sources
from tests.strategies import RandomSearch

FACTORY = """
class Mine:
    def __init__(self, *_):
        pass
    def ask(self):
        pass
    def tell(self, x, y):
        pass
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Write a project's files, import its module `name` afresh and return the fingerprint of its class Mine."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def forget():
        for known, module in list(sys.modules.items()):
            if str(tmp_path) in str(getattr(module, "__file__", "")):
                del sys.modules[known]
        importlib.invalidate_caches()
        linecache.clearcache()

    def fingerprint(name="plugin", **files):
        for path, text in files.items():
            place = tmp_path.joinpath(*path.split("."))
            place.parent.mkdir(parents=True, exist_ok=True)
            place.with_suffix(".py").write_text(text)
        forget()
        return rc.AskTell(importlib.import_module(name).Mine).fingerprint

    yield fingerprint
    forget()


def test_a_plug_in_that_imports_nothing_of_its_own_is_its_file():
    source = Path(sys.modules[RandomSearch.__module__].__file__).read_text("utf-8")
    assert rc.AskTell(RandomSearch).fingerprint == hashlib.sha256(source.encode()).hexdigest()[:16]


@pytest.mark.parametrize(
    "statement",
    [
        "import helper",
        "from helper import value",
        "import helper as h",
        "def late():\n    import helper\n",
        "import importlib\nimportlib.import_module('helper')",
        "__import__('helper')",
    ],
)
def test_an_edited_helper_is_other_code(project, statement):
    before = project(plugin=f"{statement}\n{FACTORY}", helper="value = 1\n")
    assert project(helper="value = 1\n") == before
    assert project(helper="value = 2\n") != before


def test_helpers_of_helpers_and_packages_count(project):
    files = {
        "lab.plugin": f"from . import tools\nfrom .deep.inner import f\n{FACTORY}",
        "lab.__init__": "",
        "lab.tools": "import json\nfrom lab import constants\n",
        "lab.constants": "K = 1\n",
        "lab.deep.__init__": "",
        "lab.deep.inner": "from ..constants import K\ndef f(): return K\n",
    }
    first = project("lab.plugin", **files)
    for changed in ("lab.constants", "lab.tools", "lab.deep.inner", "lab.deep.__init__", "lab.__init__"):
        assert project("lab.plugin", **files | {changed: files[changed] + "# edited\n"}) != first
    assert project("lab.plugin", **files | {"lab.unused": "x = 1\n"}) == first


def test_a_helper_that_is_named_from_its_package_counts(project):
    files = {"lab.plugin": f"import importlib\nimportlib.import_module(__package__ + '.helper')\n{FACTORY}"}
    first = project("lab.plugin", **files, **{"lab.__init__": "", "lab.helper": "value = 1\n"})
    assert project("lab.plugin", **{"lab.helper": "value = 2\n"}) != first


def test_libraries_and_broken_imports_do_not_count(project):
    first = project(plugin=f"import numpy\nimport json\nimport ratecheck\n{FACTORY}")
    assert len(first) == 16
    odd = (
        f"try:\n    import no_such_module\n    from no_such.part import thing\nexcept ImportError:\n    pass\n{FACTORY}"
    )
    assert len(project(plugin=odd)) == 16


def test_modules_that_import_each_other_end(project):
    assert project(plugin=f"import helper\n{FACTORY}", helper="def f():\n    import plugin\n")


class Object:
    def __init__(self, gain):
        self.inner = {"gain": Inner(gain), "names": {"a", "b", "c"}, "rng": np.random.default_rng(0)}

    def __call__(self, *_):
        pass

    def method(self, *_):
        pass


class Inner:
    __slots__ = ("gain",)

    def __init__(self, gain):
        self.gain = gain


def closure(gain):
    return lambda *_: gain


def closing_class(gain):
    class Closing:
        def ask(self):
            return gain

    return Closing


def default(gain):
    def made(*_, gain=gain):
        return gain

    return made


def table(gain):
    return partial(RandomSearch, np.arange(5000) == gain)


@pytest.mark.parametrize("make", [Object, lambda gain: Object(gain).method, closure, closing_class, default, table])
def test_what_a_factory_was_made_with_counts(make):
    first = rc.AskTell(make(1.0)).fingerprint
    assert rc.AskTell(make(1.0)).fingerprint == first
    assert rc.AskTell(make(2.0)).fingerprint != first


def test_what_a_factory_was_made_with_is_the_same_in_every_process():
    code = "import ratecheck as rc; from tests.test_sources import Object; print(rc.AskTell(Object(1.0)).fingerprint)"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == rc.AskTell(Object(1.0)).fingerprint


def test_an_object_that_holds_itself_ends():
    thing = Object(1.0)
    thing.inner["me"] = thing
    assert rc.AskTell(thing).fingerprint != rc.AskTell(Object(1.0)).fingerprint


def test_names_of_imports():
    text = "import a.b, c\nfrom d.e import f as g\nfrom . import h\nfrom ..i import j\n"
    assert set(sources.names(text, "p.q")) == {
        "a",
        "a.b",
        "c",
        "d",
        "d.e",
        "d.e.f",
        "p",
        "p.q",
        "p.q.h",
        "p.i",
        "p.i.j",
    }

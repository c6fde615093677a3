"""Declared studies: finding, loading and listing studies/NAME/study.py."""

from __future__ import annotations

from pathlib import Path

from studies.claims.ledger import Experiment, Ledger

from ..arguments import meant
from ..loading import load_file
from .declare import Study

FOLDER = Path("studies")
SHIPPED = Path(__file__).parents[2] / "studies"  # of a checkout; an installed package has none


def declared(name) -> Study:
    """A study of fits."""
    study = declaration(name)
    if not isinstance(study, Study):
        raise ValueError(f"{declaration_of(name)} declares a {type(study).__name__}, not a Study")
    return study


def declaration(name) -> Study | Experiment | Ledger:
    """What a study.py declares: a study, an experiment about claims, or a ledger of them."""
    path = declaration_of(name)
    study = getattr(load(path), "study", None)
    if not isinstance(study, Study | Experiment | Ledger):
        raise ValueError(f"{path} declares no study; it must set study = Study(...)")
    return study


def declaration_of(name) -> Path:
    if Path(name).name == "study.py" and Path(name).is_file():
        return Path(name)
    for folder in (FOLDER / name, Path(name), SHIPPED / name):
        if (folder / "study.py").is_file():
            return folder / "study.py"
    near = meant(name, known_studies())
    raise ValueError(f"there is no studies/{name}/study.py{near} (declared studies: {', '.join(known_studies())})")


def home_of(name) -> Path | None:
    """The folder of a declared study, which its results go to; None for one that comes with ratecheck."""
    folder = declaration_of(name).parent
    return None if folder == SHIPPED / name else folder


def known_studies() -> list[str]:
    """Here, and those that come with ratecheck."""
    found = [path.parent.relative_to(folder) for folder in (FOLDER, SHIPPED) for path in folder.glob("**/study.py")]
    return sorted({folder.as_posix() for folder in found if len(folder.parts) <= 2})


def load(path):
    """The module of a declaration, under a name by which other processes find it too."""
    return load_file(path, package=True)

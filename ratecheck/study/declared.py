"""Declared studies: finding, loading and listing studies/NAME/study.py."""

import os
from pathlib import Path
from types import ModuleType
from typing import Protocol

from ..arguments import meant
from .declare import Study
from .load import module_at
from .options import Conclusion, Options

FOLDER = Path("studies")
SHIPPED = Path(__file__).parents[2] / "studies"  # of a checkout; an installed package has none


class Conductible(Protocol):
    """What a study.py declares: a Study of rates, or any object of one's own with this method."""

    name: str

    def conduct(self, folder: Path | None, options: Options) -> Conclusion:
        """Run what is missing, judge, and write a report into a folder; None leaves the folder to the study."""


def declared(name) -> Study:
    study = declaration(name)
    if not isinstance(study, Study):
        raise ValueError(f"{declaration_of(name)} declares a {type(study).__name__}, not a Study")
    return study


def declaration(name) -> Conductible:
    """What studies/NAME/study.py declares; `name` may also be the path of a folder or of the file."""
    path = declaration_of(name)
    study = getattr(load(path), "study", None)
    if isinstance(study, type) or not callable(getattr(study, "conduct", None)):
        raise ValueError(f"{path} declares no study; it must set study = Study(...), or an object with conduct()")
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
    found = [path.parent.relative_to(folder) for folder in (FOLDER, SHIPPED) for path in folder.glob("**/study.py")]
    return sorted({folder.as_posix() for folder in found if len(folder.parts) <= 2})


def load(path) -> ModuleType:
    """The module of a declaration; below a folder `studies` it may import `studies.…`, in other processes too."""
    folder = Path(os.path.abspath(path)).parent
    around = [above.parent for above in folder.parents if above.name == FOLDER.name][:1]
    return module_at(path, *around, folder.parent)

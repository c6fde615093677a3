"""What a command line asks of a study, and what the study answers."""

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..arguments import available_cores

RESULTS = Path("results")
RERUN = ("preset", "replicates", "seed", "members")  # settings on which results depend


@dataclass(frozen=True)
class Options:
    """How a study is to be conducted.

    Every study heeds the fields of this class.  The `settings` it takes, by name, where it understands them, and
    refuses otherwise.
    """

    name: str = ""  # by which it was called
    settings: Mapping[str, Any] = field(default_factory=dict)  # preset, seed, replicates, ...: those that were given
    home: Path | None = None  # the folder of its declaration, where results may go
    workers: int | None = None  # None: all cores
    fresh: bool = False  # earlier results are set aside
    figures: bool = True
    dry_run: bool = False  # say what would be done, and do nothing
    say: Callable[[str], None] = print  # while it goes on
    into: Callable[[Path], Path] = Path  # is told the folder, once it is known; it may refuse it

    def taken(self, *names) -> dict[str, Any]:
        """The settings that were given, all of which the study must name as its own."""
        for name in self.settings:
            if name not in names:
                known = ", ".join(f"--{_dashed(other)}" for other in names)
                raise ValueError(f"this study takes no --{_dashed(name)} (it takes: {known})")
        return dict(self.settings)

    @property
    def cores(self) -> int:
        """How many threads or processes work: as many as were asked for, or as there are cores."""
        return self.workers or available_cores()

    @property
    def command(self) -> str:
        """What gives the same runs and verdicts, wherever it runs."""
        return command_line({"study": self.name} | {name: self.settings.get(name) for name in RERUN})


def command_line(options: Mapping[str, Any]) -> str:
    """The command with these options: a list stands for several values, None for an option that is left out."""
    words = ["python -m ratecheck.study"]
    for name, value in options.items():
        values = value if isinstance(value, list) else [value]
        words += [f"--{_dashed(name)}", *(shlex.quote(str(v)) for v in values)] * (value is not None)
    return " ".join(words)


def _dashed(name) -> str:
    return name.replace("_", "-")


@dataclass(frozen=True)
class Conclusion:
    """What a study came to: what to print, a sentence about every unit of work that was given up, any refutation."""

    said: str
    given_up: tuple[str, ...] = ()
    refuted: bool = False

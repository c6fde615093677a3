"""What a study asks and how it will answer, fixed before anything runs."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from numbers import Real

import function_zoo as zoo

from ..algorithms.protocol import Algorithm, check_algorithm
from ..algorithms.registry import defaults
from ..arguments import MOST_IN_DATABASE, MOST_REPLICATES, check_alignment, check_horizons, check_whole, items, shown
from ..claims import Theorem
from ..engine.simulate import STANDARD
from ..planning.grid import Grid, check_first
from ..sampling.noise import Noise, check_noise
from ..verdict.rules import MARGIN, RESOLUTION
from .options import Conclusion, Options

MOST_MEMBERS = 1000


@dataclass(frozen=True)
class Study:
    """A question, the runs that are to answer it, and the rules of judgement.

    `costs` are costs of the zoo, or (family, dim) pairs; `horizons` is a Grid or a list of numbers.  `theorems` are
    judged beside what the algorithms claim themselves: each a Theorem, for all algorithms, or a pair of an algorithm
    and a Theorem.
    `compare` names the pairs of algorithms whose slopes are compared (first minus second); None takes every two of
    different kinds, in their order.  An algorithm is named by its kind (which all its settings share), by its label,
    or by itself.  A verdict for which a power beyond `resolution` could have passed as well decides nothing.
    Theorem 3 is judged on so many `members` of the hard families of each cost, drawn beside certified lower bounds; 0
    leaves out all of that.
    """

    name: str
    question: str
    costs: tuple
    algorithms: tuple[Algorithm, ...] = field(default_factory=defaults)
    horizons: Grid | tuple = field(default_factory=Grid)
    replicates: int = 64
    seed: int = 0
    noise: Noise = STANDARD
    alignment: str = "random"
    margin: float = MARGIN
    resolution: float = RESOLUTION
    theorems: tuple = ()
    compare: tuple | None = None
    members: int = 6
    command: str = field(default="", compare=False)  # what reruns it

    def __post_init__(self):
        put = object.__setattr__
        if not isinstance(self.name, str) or not re.fullmatch(r"[\w.+-]*[\w+-][\w.+-]*", self.name):
            raise ValueError(f"{shown(self.name)} is no name for a study; use letters, digits and - _ + .")
        for text in ("question", "command"):
            if not isinstance(getattr(self, text), str) or not getattr(self, text).isprintable():
                raise ValueError(f"{text} = {shown(getattr(self, text))} must be a text, on one line")
        put(self, "costs", tuple(map(_cost, items("costs", self.costs, "costs, or of pairs (family, dim)"))))
        put(self, "algorithms", items("algorithms", self.algorithms, "algorithms"))
        put(self, "theorems", items("theorems", self.theorems, "theorems, or of pairs (algorithm, theorem)"))
        for algorithm in self.algorithms:
            check_algorithm(algorithm)
        if not isinstance(self.horizons, Grid):
            put(self, "horizons", tuple(check_horizons(self.horizons)))
            check_first(self.horizons[0])
        check_whole("replicates", self.replicates, 1, MOST_REPLICATES)
        check_whole("seed", self.seed, 0, MOST_IN_DATABASE)
        if check_whole("members", self.members, 0, MOST_MEMBERS) in (1, 2):
            raise ValueError(f"members = {self.members} are too few for an interval; take 3 or more, or 0 for none")
        if not self.costs or not self.algorithms:
            raise ValueError(f"study {self.name!r} needs at least one cost and one algorithm")
        names = [str(c) for c in self.costs]
        if len(set(names)) < len(names):
            raise ValueError(f"study {self.name!r} names a cost twice: {max(names, key=names.count)}")
        labels = [a.label for a in self.algorithms]
        if len(set(labels)) < len(labels):
            raise ValueError(f"study {self.name!r} names the same algorithm twice: {', '.join(labels)}")
        check_alignment(self.alignment)
        check_noise(self.noise)
        if not (isinstance(self.margin, Real) and 0 < self.margin < 1):
            raise ValueError(f"margin = {shown(self.margin)} must lie between 0 and 1")
        if not (isinstance(self.resolution, Real) and 1e-6 <= self.resolution <= 100):
            raise ValueError(f"resolution = {shown(self.resolution)} must be positive")
        self.comparisons()
        for algorithm in self.algorithms:
            self.theorems_for(algorithm)

    def conduct(self, folder=None, options: Options | None = None) -> Conclusion:
        """Run what the folder's store lacks, fit, judge, and write the report there."""
        from .conduct import concluded  # it imports this module, and what takes a second to import

        return concluded(self, folder, options or Options())

    def comparisons(self) -> tuple[tuple[str, str], ...]:
        if self.compare is None:
            pairs = [(a, b) for a, b in combinations(self.algorithms, 2) if a.kind != b.kind]
        else:
            declared = map(_pair, items("compare", self.compare, "pairs of algorithms"))
            pairs = []
            for first, second in declared:  # every two algorithms that a declared pair of names means
                meant = [(a, b) for a in self.called(first) for b in self.called(second) if a != b]
                if not meant:
                    what = f"compares {str(first)!r} with itself alone"
                    raise ValueError(f"study {self.name!r} {what}; name two algorithms")
                pairs += meant
        found = {}
        for a, b in pairs:  # each two once, in the order in which they come first
            if (b.label, a.label) not in found:
                found[a.label, b.label] = True
        return tuple(found)

    def theorems_for(self, algorithm: Algorithm) -> list[Theorem]:
        """The theorems that the study adds to what an algorithm claims."""
        found = []
        for entry in self.theorems:
            whose, theorem = (algorithm, entry) if isinstance(entry, Theorem) else _pair(entry)
            if not isinstance(theorem, Theorem):
                raise ValueError(
                    f"{shown(theorem)} is no Theorem; `theorems` holds those, or pairs (algorithm, theorem)"
                )
            found += [theorem] * (algorithm in self.called(whose))
        return found

    def called(self, name) -> list[Algorithm]:
        """The study's algorithms of that kind, with that label, or that one itself."""
        found = [a for a in self.algorithms if name in (a, a.kind, a.label)]
        if not found:
            known = ", ".join(dict.fromkeys(text for a in self.algorithms for text in (a.kind, a.label)))
            raise ValueError(f"study {self.name!r} has no algorithm {shown(name)} (it has: {known})")
        return found


def _cost(entry) -> zoo.Cost:
    if isinstance(entry, zoo.Cost):
        return entry
    if not (isinstance(entry, tuple | list) and 1 <= len(entry) <= 2):
        raise ValueError(f"{shown(entry)} is no cost; take function_zoo.get(...), or a pair (family, dim)")
    return zoo.get(*entry)


def _pair(entry) -> tuple:
    if isinstance(entry, str) or not isinstance(entry, Sequence) or len(entry) != 2:
        raise ValueError(f"{shown(entry)} must be a pair")
    return tuple(entry)


PRESETS = {
    "quick": (Grid(first=2**8, last=2**16, periods=2.0, cap=2**18), 32),
    "standard": (Grid(), 64),
    "full": (Grid(last=2**23, periods=3.0, cap=2**28), 256),
}

"""`ratecheck zoo`: list the families, audit them, draw them."""

import ast
import os
import warnings
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext

from function_zoo.audit import audit
from function_zoo.cost import Cost
from function_zoo.registry import InvalidChoice, families, get, lookup

from .parser import OWN_CODE, Parser, completing, guarded, natural, path, whole_number, workers, writable


def make_parser(prog) -> Parser:
    parser = Parser(prog, __doc__, OWN_CODE)
    commands = parser.add_subparsers(dest="command", metavar="{list,audit,gallery}")
    commands.add_parser("list", help="the families with their formula and constants (the default)", epilog=OWN_CODE)

    audits = commands.add_parser("audit", help="measure every constant, against its annotation", epilog=OWN_CODE)
    completing(audits.add_argument("family", nargs="+", help="names of families, or all"), [*families(), "all"])
    audits.add_argument("--dim", type=whole_number, nargs="+", help="default 2; with several, those that exist")
    audits.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a parameter of the family")
    audits.add_argument("--seed", type=natural, default=0)
    audits.add_argument("--workers", type=workers, default=os.cpu_count(), help="processes for several audits")

    gallery = commands.add_parser("gallery", help="a figure per family, and a page with all of them", epilog=OWN_CODE)
    gallery.add_argument("--out", type=path, required=True, metavar="DIR")
    completing(gallery.add_argument("--family", nargs="+", default=["all"]), [*families(), "all"])
    gallery.add_argument("--workers", type=workers, default=os.cpu_count())

    return parser


def main(argv=None, prog="ratecheck zoo") -> int:
    arguments = make_parser(prog).parse_args(argv)
    commands = {"audit": _audit, "gallery": _gallery}
    return guarded(commands.get(arguments.command, _list), arguments)


def _list(arguments=None) -> int:
    print(f"{'family':16}{'d':>5}  {'alpha':>6} {'beta':>6} {'d/alpha':>8}      formula")
    for name in families():
        entry = lookup(name)
        dim = 2
        c = get(name, dim).constants
        dims = f"{min(entry.dims)}" if len(entry.dims) == 1 else f"{min(entry.dims)}-{max(entry.dims)}"
        condition = "" if c.literal else "(c')"
        print(f"{name:16}{dims:>5}  {c.alpha:6.3g} {c.beta:6.3g} {dim / c.alpha:8.3g} {condition:4} {entry.formula}")
    print("\nalpha, beta and d/alpha at d = 2.  (c'): the packing bound holds for a^alpha <= epsilon only.")
    return 0


def _names(given):
    if "all" in given:
        return list(families())
    return [lookup(name).name for name in given]


def _parameters(settings):
    parameters = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise InvalidChoice(f"--set {setting}: expected NAME=VALUE, for instance --set scale=5")
        if name.strip() in ("name", "dim"):
            raise InvalidChoice(f"--set {setting}: the family is named before the options, its dimension by --dim")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about the style of what is no number anyway
                parameters[name.strip()] = ast.literal_eval(value.strip())
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            raise InvalidChoice(f"--set {setting}: {value!r} is not a number or a tuple of numbers") from None
    return parameters


def _costs(arguments) -> list[Cost]:
    names, dims, parameters = _names(arguments.family), arguments.dim or [2], _parameters(arguments.set)
    if len(names) == 1 and len(dims) == 1:
        return [get(names[0], dims[0], **parameters)]
    costs = [get(name, dim, **parameters) for name in names for dim in dims if dim in lookup(name).dims]
    if not costs:
        near = min((d for name in names for d in lookup(name).dims), key=lambda d: min(abs(d - dim) for dim in dims))
        which = names[0] if len(names) == 1 else f"none of these {len(names)} families"
        raise InvalidChoice(
            f"{which} exists in dimension {' or '.join(map(str, dims))}; the nearest valid choice is {near}"
        )
    return costs


def _audit(arguments) -> int:
    costs = _costs(arguments)
    processes = min(arguments.workers, len(costs))
    with ProcessPoolExecutor(processes) if processes > 1 else nullcontext() as pool:
        tables = (pool.map if pool else map)(audit, costs, [arguments.seed] * len(costs))
        failed = 0
        for cost, table in zip(costs, tables, strict=True):
            print(cost, table, "", sep="\n", flush=True)
            failed += not table["holds"].all()
    if len(costs) > 1:
        print(f"{len(costs) - failed} of {len(costs)} audits hold")
    return 1 if failed else 0


def _gallery(arguments) -> int:
    from function_zoo.gallery import gallery

    from ..files import together

    folder = writable(arguments.out)
    files = gallery(_names(arguments.family), arguments.workers)
    folder.mkdir(parents=True, exist_ok=True)
    with together(folder) as drafts:
        for name, content in files.items():
            with drafts.open(name, "wb") as file:
                file.write(content)
    print(folder / "gallery.md")
    return 0

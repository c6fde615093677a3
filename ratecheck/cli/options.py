"""Options of the command line as values: numbers, horizons, noise laws, algorithms with their settings."""

import argparse

from ..algorithms.registry import NAMED, named
from .parser import real_number

NOISES = {"gaussian": "Gaussian", "uniform": "Uniform", "rademacher": "Rademacher", "student": "StudentT"}
SETTINGS = {option: (entry.name, text) for entry in NAMED.values() for option, text in entry.options.items()}


def algorithms(names, settings) -> tuple:
    """The algorithms of these names; `settings` holds, by option, the values that the command line gives."""
    chosen = []
    for name in dict.fromkeys(names):
        entry = named(name)
        given = {option: values for option, values in settings.items() if option in entry.options}
        if len(given) > 1:
            raise ValueError(f"--{' and --'.join(given)} both vary {name}; vary one of them at a time")
        varied = [{option: setting(text)} for option, values in given.items() for text in values] or [{}]
        chosen += [entry.load()(**each) for each in varied]
    for option in settings:
        if SETTINGS[option][0] not in names:
            raise ValueError(f"--{option} is a setting of {SETTINGS[option][0]}, which is not among --algorithms")
    return tuple(chosen)


def setting(text):
    try:
        return real_number(text)
    except ValueError:
        return text


def seconds(text) -> float:
    try:
        value = real_number(text)
    except ValueError:
        value = 0.0
    if value <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")
    return value


def horizons(text):
    """FROM:TO, FROM:TO:RATIO, or a list with commas."""
    from ..planning.grid import Grid

    try:
        if "," in text:
            return tuple(round(real_number(part)) for part in text.split(","))
        parts = [real_number(part.lstrip("x×")) for part in text.replace("..", ":").split(":")]
    except ValueError:
        parts = []
    if len(parts) not in (2, 3):
        raise ValueError(f"--horizons {text}: write FROM:TO such as 2^10:2^20, FROM:TO:RATIO, or a list with commas")
    return Grid(round(parts[0]), round(parts[1]), parts[2] if len(parts) == 3 else None, periods=None)


def noise(text):
    from ..sampling import noise as laws

    name, *numbers = text.split(":")
    if name not in NOISES:
        raise ValueError(f"--noise {text}: the laws are {', '.join(NOISES)}, with an optional :SIGMA")
    try:
        values = [real_number(part) for part in numbers]
        return getattr(laws, NOISES[name])(*values)
    except TypeError:
        raise ValueError(f"--noise {text}: too many numbers") from None
    except ValueError as error:
        raise ValueError(f"--noise {text}: {error}") from None

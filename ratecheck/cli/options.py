"""Options of the command line as values: numbers, horizons, noise laws, algorithms with their settings."""

from __future__ import annotations

import argparse
import re
import socket
import sys
import threading
from urllib.parse import urlsplit

from ..algorithms.registry import NAMED, named
from ..arguments import MOST_WORKERS
from .parser import Mistake, real_number, some

NOISES = {"gaussian": "Gaussian", "uniform": "Uniform", "rademacher": "Rademacher", "student": "StudentT"}
SCHEMES = ("tcp", "tls")
LONGEST_GREETING = 2**24  # bytes
PATIENCE = 2.0  # seconds that an address may take to answer
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
    """A number, or a word that the algorithm knows or refuses."""
    try:
        return real_number(text)
    except ValueError:
        return text


def seconds(text) -> float:
    """A duration, above 0."""
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


# Where to run


def scheduler(text):
    """threads, processes, local:N or the address of a Dask scheduler; what cannot be one is refused."""
    if some(text) in ("threads", "processes", "local"):
        return text
    name, _, number = text.partition(":")
    if name == "local":
        if not re.fullmatch("[0-9]{1,9}", number) or not 1 <= int(number) <= MOST_WORKERS:
            raise Mistake(f"{text}: write local:N with N workers, 1 or more, {MOST_WORKERS} at most")
        return text
    if "://" not in text:
        raise Mistake(f"{text!r} is none of threads, processes, local:N or an address such as tcp://host:8786")
    if not is_address(text):
        raise Mistake(f"{text!r} is no address; write tcp://host:port or tls://host:port")
    return text


def is_address(text) -> bool:
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        return False
    plain = not (parts.path or parts.query or parts.fragment or "@" in parts.netloc)
    return plain and parts.scheme in SCHEMES and bool(port) and bool(re.fullmatch(r"[\w.:%-]+", host or ""))


def check_answers(address, tls=None):
    """Refuse the address of a scheduler that does not greet as Dask does, before anything is written."""
    parts = urlsplit(address)
    problem = [f"no answer within {PATIENCE:.0f} s"]

    def call():
        try:
            with socket.create_connection((parts.hostname, parts.port), PATIENCE) as connection:
                if context is not None:
                    connection = context.wrap_socket(connection)
                with connection:
                    greets = _greets(connection)
            problem[:] = [] if greets else ["what listens there does not speak like one"]
        except TimeoutError:
            return
        except OSError as error:
            problem[0] = error.strerror or str(error)

    context = _context(address, tls) if parts.scheme == "tls" else None
    caller = threading.Thread(target=call, daemon=True)  # to find a name may take longer than we would wait
    caller.start()
    caller.join(PATIENCE)
    if problem:
        raise ValueError(f"there is no Dask scheduler at {address} ({problem[0]})")


def _context(address, tls):
    from ..executors.cluster import tls_context

    try:
        return tls_context(tls)
    except (OSError, ValueError) as error:  # an ssl.SSLError is one, for a file that holds no certificate
        raise ValueError(f"there is no Dask scheduler at {address} ({error})") from None


def _greets(connection) -> bool:
    """Whether the other side speaks first, as Dask does: the length of a short message, in eight bytes."""
    said = b""
    while len(said) < 8 and (more := connection.recv(8 - len(said))):
        said += more
    return len(said) == 8 and int.from_bytes(said, sys.byteorder) < LONGEST_GREETING

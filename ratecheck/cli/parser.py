"""What every command line of the project shares: its parser, its values, and how it ends."""

import argparse
import errno
import math
import os
import re
import sys
from contextlib import suppress
from itertools import takewhile
from pathlib import Path

from ..arguments import MOST_IN_DATABASE, MOST_WORKERS, meant

LONGEST_NAME = 255  # bytes, in every file system we know of
LONGEST_MESSAGE = 1000
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
EXIT_NO_ROOM, EXIT_WRONG_INPUT, EXIT_REFUTED = 1, 2, 3
OWN_CODE = "It executes no code but this project's own."


class Mistake(argparse.ArgumentTypeError, ValueError):
    """A value that cannot be meant; the parser shows the message as it is."""


class Parser(argparse.ArgumentParser):
    """Mistakes get one sentence, with what was probably meant; options are written out, not cut short."""

    def __init__(self, prog=None, description=None, epilog=None, **options):
        # a shortened option would change its meaning with every option that is added
        names = {"prog": prog, "description": description, "epilog": epilog, "allow_abbrev": False}
        super().__init__(**names | options)

    def parse_known_args(self, args=None, namespace=None):
        args = sys.argv[1:] if args is None else list(args)
        for word in args:
            if re.fullmatch("--[^=]+=--", word):  # argparse would make it an empty list
                self.error(f"argument {word[:-3]}: -- is no value")
        known = self._known()
        for word in takewhile(lambda word: word != "--", args):
            flag = word.partition("=")[0]
            if flag.startswith("--") and flag not in known:
                self.error(f"there is no option {flag}{meant(flag, known)}")
        return super().parse_known_args(args, namespace)

    def _known(self) -> set[str]:
        """The options of this parser and of those below it."""
        below = [p for action in self._actions if isinstance(action.choices, dict) for p in action.choices.values()]
        return set(self._option_string_actions).union(*(parser._known() for parser in below))

    def _check_value(self, action, value):
        if action.choices is not None and value not in action.choices:
            what = f"invalid choice: {value!r}{meant(value, action.choices)}"
            raise argparse.ArgumentError(action, f"{what} (choose from {', '.join(map(str, action.choices))})")

    def error(self, message):
        self.exit(2, f"error: {sentence(message)} (see {self.prog} --help)\n")


def completing(action: argparse.Action, values) -> argparse.Action:
    """Tell tab completion which words fit an option that takes others too."""
    action.completes = tuple(values)
    return action


def sentence(error) -> str:
    """What an error says, on one line, whatever the words that it quotes."""
    line = re.sub(r"\s+", " ", str(error)).strip()
    line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
    half = LONGEST_MESSAGE // 2
    return line if len(line) <= LONGEST_MESSAGE else f"{line[:half]} ... {line[-half:]}"


def whole_number(text):
    try:
        value = int(text)
    except ValueError:
        value = None
    if value is not None:
        if abs(value) > MOST_IN_DATABASE:
            raise Mistake(f"{text} is too large; the largest valid choice is {MOST_IN_DATABASE}")
        return value
    try:
        near = max(min(round(float(text)), MOST_IN_DATABASE), -MOST_IN_DATABASE)
    except (ValueError, OverflowError):
        raise Mistake(f"{text!r} is not a whole number") from None
    raise Mistake(f"{text} is not a whole number; the nearest valid choice is {near}")


def real_number(text) -> float:
    """1000, 1e6, 1_000, 2^10 or 2**10."""
    base, power, exponent = text.replace("**", "^").partition("^")
    try:
        value = float(base) ** float(exponent) if power else float(base)
    except ArithmeticError:
        value = math.nan
    except ValueError:
        raise Mistake(f"{text!r} is no number") from None
    if isinstance(value, complex) or not math.isfinite(value):
        raise Mistake(f"{text} is no finite number")
    return value


def natural(text):
    value = whole_number(text)
    if value < 0:
        raise Mistake(f"{text} is negative; the nearest valid choice is 0")
    return value


def workers(text):
    value = whole_number(text)
    if not 1 <= value <= MOST_WORKERS:
        raise Mistake(f"workers = {value} must lie between 1 and {MOST_WORKERS}")
    return value


def some(text):
    """A text that can be a name, a path or an address."""
    if not text:
        raise Mistake("'' is empty; leave the option out, or give it a value")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Mistake(f"{text!r} is no text in UTF-8") from None
    if "\0" in text:
        raise Mistake(f"{text!r} holds a zero byte, which no name may")
    return text


def path(text) -> Path:
    return Path(some(text))


def folder(text) -> Path:
    """A folder to write to; where there is none yet, one could be made."""
    return writable(path(text))


def writable(path: Path) -> Path:
    if any(len(os.fsencode(part)) > LONGEST_NAME for part in path.parts):
        raise Mistake(f"{path} cannot be a folder: a name in it has more than {LONGEST_NAME} bytes")
    for there in (path, *path.absolute().parents):
        try:
            there.stat()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise Mistake(f"{path} cannot be a folder: {there} cannot be looked at ({error.strerror})") from None
        if not there.is_dir():
            raise Mistake(f"{path} cannot be a folder: {there} is a file")
        if not os.access(there, os.W_OK | os.X_OK):
            raise Mistake(f"{path} cannot be written to: {there} allows it not; choose another folder")
        break
    return path


def guarded(action, *arguments, errors=(ValueError, OSError)) -> int:
    """Run a command: mistakes and a full disk are one sentence, a closed pipe is none, Ctrl-C ends quietly."""
    try:
        code = action(*arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader has seen enough, as with `| head`
        _say_no_more()
        return 0
    except errors as error:
        if getattr(error, "errno", None) not in NO_ROOM:
            print(f"error: {sentence(error)}", file=sys.stderr)
            return EXIT_WRONG_INPUT
        _say_no_more()
        kept = "what was finished before is kept, and the same command goes on once you make room"
        print(f"error: there is no room left ({sentence(error)}); {kept}", file=sys.stderr)
        return EXIT_NO_ROOM
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130


def _say_no_more():
    """What standard output could not take is not tried again when the interpreter ends."""
    with suppress(OSError, ValueError, AttributeError):  # no file, as in tests, or none at all
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

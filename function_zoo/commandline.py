"""What every command line of the project shares: its parser, its numbers, and how it ends."""

from __future__ import annotations

import argparse
import os
import sys


class Parser(argparse.ArgumentParser):
    """Mistakes get one sentence."""

    def error(self, message):
        self.exit(2, f"error: {message} (see {self.prog} --help)\n")


def whole(text):
    try:
        return int(text)
    except ValueError:
        pass
    try:
        near = round(float(text))
    except (ValueError, OverflowError):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None
    raise argparse.ArgumentTypeError(f"{text} is not a whole number; the nearest valid choice is {near}")


def natural(text):
    value = whole(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text} is negative; the nearest valid choice is 0")
    return value


def guarded(action, *arguments, errors=(ValueError, OSError)) -> int:
    """Run a command: mistakes are one sentence, a closed pipe is none, Ctrl-C ends quietly."""
    try:
        code = action(*arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader has seen enough, as with `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except errors as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130

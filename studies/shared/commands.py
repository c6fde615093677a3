"""What the command lines of studies have in common: their parser, their numbers and their sentences for mistakes."""

from __future__ import annotations

import argparse

from ratecheck.cli.parser import Parser, folder, guarded

__all__ = ["folder", "guarded", "parser_of", "whole"]
OWN_CODE = "It executes no code but this project's own."


def parser_of(command: str, purpose: str) -> Parser:
    """The parser of `python -m studies.COMMAND`; the first paragraph of `purpose` describes it."""
    described = " ".join(purpose.split("\n\n")[0].split())
    return Parser(prog=f"python -m studies.{command}", description=described, epilog=OWN_CODE)


def whole(least=0, most=2**63 - 1):
    """A type of arguments: a whole number that is not smaller than `least` and not larger than `most`."""

    def read(text) -> int:
        try:
            value = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None
        near = min(max(value, least), most)
        if value != near:
            size = "small" if value < least else "large"
            raise argparse.ArgumentTypeError(f"{text} is too {size}; the nearest valid choice is {near}")
        return value

    return read

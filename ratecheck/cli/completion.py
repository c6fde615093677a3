"""`ratecheck completion SHELL`: a script for tab completion, which shtab makes from the parsers of all commands.

source <(ratecheck completion bash)                               # bash; or in ~/.bashrc
eval "$(ratecheck completion zsh)"                                # zsh; or in ~/.zshrc
ratecheck completion fish > ~/.config/fish/completions/ratecheck.fish
"""

import argparse

from .parser import OWN_CODE, Parser

SHELLS = ("bash", "zsh", "fish")


def script(shell) -> str:
    import shtab  # on first use: no other command needs it

    return shtab.complete(_everything(shtab.FILE), shell)


def _everything(files) -> Parser:
    """One parser with all commands below it, whose options name the words that fit them, or files."""
    from .main import COMMANDS

    parser = Parser(prog="ratecheck")
    parser.add_argument("--version", action="store_true", help="say which version this is")
    below = parser.add_subparsers(parser_class=lambda prog: COMMANDS[prog.split()[-1]].make_parser(prog))
    for name, command in COMMANDS.items():
        below.add_parser(name, help=command.does)
    _propose(parser, files)
    return parser


def _propose(parser, files):
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for inner in action.choices.values():
                _propose(inner, files)
        elif action.nargs != 0:
            action.choices = getattr(action, "completes", action.choices)
            if action.choices is None:
                action.complete = files


def make_parser(prog) -> Parser:
    parser = Parser(prog, __doc__, OWN_CODE, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help="bash, zsh or fish")
    return parser


def main(argv, prog="ratecheck completion") -> int:
    print(script(make_parser(prog).parse_args(argv).shell), end="")
    return 0

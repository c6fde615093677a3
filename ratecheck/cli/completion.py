"""`ratecheck completion SHELL`: a script for tab completion, made from the parsers of all commands.

source <(ratecheck completion bash)                               # bash; or in ~/.bashrc
source <(ratecheck completion zsh)                                # zsh; or in ~/.zshrc
ratecheck completion fish > ~/.config/fish/completions/ratecheck.fish
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass

from .parser import OWN_CODE, Parser

STUDIES = "studies"  # stands for the declared studies of the folder in which somebody types


@dataclass(frozen=True)
class Option:
    """A flag: what may follow it, and how much of it."""

    flag: str
    help: str
    values: tuple[str, ...] | str
    takes: str  # "none", "one" or "many"


@dataclass(frozen=True)
class Level:
    """What may be typed after some commands, such as `zoo audit`."""

    path: str
    commands: dict[str, str]  # with their help
    options: tuple[Option, ...]
    values: tuple[str, ...]  # that arguments without a flag may take


def levels() -> list[Level]:
    from .main import COMMANDS

    found = [Level("", {name: command.does for name, command in COMMANDS.items()}, _HELP_AND_VERSION, ())]
    for name, command in COMMANDS.items():
        found += _levels(command.make_parser(f"ratecheck {name}"), name)
    return found


_HELP_AND_VERSION = (Option("--help", "", (), "none"), Option("--version", "", (), "none"))


def _levels(parser: argparse.ArgumentParser, path) -> Iterator[Level]:
    options, values, commands = [], (), {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {choice.dest: choice.help or "" for choice in action._choices_actions}
            commands = {name: helps.get(name, "") for name in action.choices}
            for name, below in action.choices.items():
                yield from _levels(below, f"{path} {name}")
        elif action.option_strings:
            takes = "none" if action.nargs == 0 else "many" if action.nargs in ("+", "*") else "one"
            flags = [flag for flag in action.option_strings if flag.startswith("--")]
            options += [Option(flag, action.help or "", _values(action), takes) for flag in flags]
        else:
            values += tuple(_values(action))
    yield Level(path, commands, tuple(options), values)


def _values(action) -> tuple[str, ...] | str:
    known = getattr(action, "completes", action.choices)
    return known if isinstance(known, str) else tuple(map(str, known or ()))


def bash() -> str:
    found = levels()
    steps = [_joined(level.path, name) for level in found for name in level.commands]
    cases = [
        f"        '{level.path}|{option.flag}') takes={option.takes}; {_bash_words(option.values)} ;;"
        for level in found
        for option in level.options
        if option.takes != "none"
    ]
    words = [f"        '{level.path}') offered='{' '.join([*level.commands, *level.values])}' ;;" for level in found]
    flags = [f"        '{level.path}') offered='{' '.join(o.flag for o in level.options)}' ;;" for level in found]
    return BASH.format(
        steps="|".join(f"'{step}'" for step in steps),
        cases="\n".join(cases),
        words="\n".join(words),
        flags="\n".join(flags),
    )


def _joined(path, name) -> str:
    return f"{path} {name}".strip()


def _bash_words(values) -> str:
    if values == STUDIES:
        return 'offered=$(for f in studies/*/study.py; do f=${f%/study.py}; [[ -e $f ]] && echo "${f#studies/}"; done)'
    return f"offered='{' '.join(values)}'"


# Where nothing is known to fit, the shell proposes files.  zsh has its own use for the names `words` and `path`.
BASH = """# tab completion of ratecheck, made by `ratecheck completion`
_ratecheck() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}}
    local level='' flag='' takes='none' offered='' word f i
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${{COMP_WORDS[i]}}
        case $word in --*) flag=$word; continue ;; esac
        case "${{level:+$level }}$word" in {steps}) level="${{level:+$level }}$word"; flag='' ;; esac
    done
    case "$level|$flag" in
{cases}
    esac
    if [[ $cur == -* ]]; then
        case "$level" in
{flags}
        esac
    elif [[ $takes == none || ($takes == one && $prev != "$flag") ]]; then
        offered=''
        case "$level" in
{words}
        esac
    fi
    COMPREPLY=($(compgen -W "$offered" -- "$cur"))
}}
complete -o bashdefault -o default -F _ratecheck ratecheck
"""
ZSH = """#compdef ratecheck
(( $+functions[compdef] )) || {{ autoload -Uz compinit && compinit; }}
autoload -Uz bashcompinit && bashcompinit
{bash}"""


def zsh() -> str:
    """zsh runs the script of bash."""
    return ZSH.format(bash=bash())


def fish() -> str:
    lines = ["# tab completion of ratecheck, made by `ratecheck completion`"]
    for level in levels():
        parts = level.path.split()
        seen = [f"__fish_seen_subcommand_from {part}" for part in parts]
        still = f"not __fish_seen_subcommand_from {' '.join(level.commands)}" if level.commands else ""
        within = "; and ".join(seen) or "__fish_use_subcommand"
        first = "; and ".join(filter(None, [*seen, still])) if seen else within
        for name, text in level.commands.items():
            lines.append(f"complete -c ratecheck -n {_quoted(first)} -f -a {name} -d {_quoted(_short(text))}")
        if level.values:
            lines.append(f"complete -c ratecheck -n {_quoted(within)} -f -a {_quoted(' '.join(level.values))}")
        for option in level.options:
            line = f"complete -c ratecheck -n {_quoted(within)} -l {option.flag[2:]} -d {_quoted(_short(option.help))}"
            values = "(path dirname studies/*/study.py | path basename)" if option.values == STUDIES else ""
            values = values or " ".join(option.values)
            takes = "" if option.takes == "none" else f" -x -a {_quoted(values)}" if values else " -r"
            lines.append(line + takes)
    return "\n".join(lines) + "\n"


def _quoted(text) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _short(text) -> str:
    return " ".join(text.replace("%%", "%").split())[:80]


SHELLS = {"bash": bash, "zsh": zsh, "fish": fish}


def make_parser(prog) -> Parser:
    parser = Parser(
        prog=prog, description=__doc__, epilog=OWN_CODE, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("shell", choices=tuple(SHELLS), metavar="SHELL", help="bash, zsh or fish")
    return parser


def main(argv, prog="ratecheck completion") -> int:
    print(SHELLS[make_parser(prog).parse_args(argv).shell](), end="")
    return 0

"""Tells which commands need no shell: those that a shell would only split into words and execute.

`python train.py --lr 0.1` is such a command. Whatever a shell could see more in is left to the shell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# Characters that mean nothing to a shell; `=` makes an assignment of a first word.
WORD = r"[\w./:@%+,-]"
SIMPLE = re.compile(rf" *{WORD}+(?: +(?:{WORD}|=)+)* *", re.ASCII)
# What a shell does itself, by its own rules. `true` and `false` are left out: they are the same everywhere.
_WORDS_OF_THE_SHELL = (
    ". : alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs "
    "disown echo enable eval exec exit export fc fg getopts hash help history jobs kill let local logout "
    "mapfile popd printf pushd pwd read readarray readonly return set shift shopt source suspend test "
    "times trap type typeset ulimit umask unalias unset wait if then else elif fi case esac for select "
    "while until do done in function time coproc"
)
OF_THE_SHELL = frozenset(_WORDS_OF_THE_SHELL.split())
# Variables by which a shell is told to do more than its command says: files to read, functions, options.
TOLD_MORE = re.compile("^(BASH|SHELLOPTS|POSIXLY_CORRECT)", re.MULTILINE)


def words_of(command: str, variables: Iterable[str]) -> list[str]:
    """Split a command that needs no shell into its words; none if it needs one."""
    if not SIMPLE.fullmatch(command):
        return []
    words = command.split()
    if words[0] in OF_THE_SHELL or TOLD_MORE.search("\n".join(variables)):
        return []
    return words

"""A source with all of its mutants in it, each behind its number: switches.h tells what that looks
like.

What asks a switch is no constant: where the language wants one, as in `case 1:` or the length of an
array, the source does not compile with it. Such a mutant stands alone: it is compiled by itself.
"""

import re

NAMES = {"<": "Less", "<=": "LessOrEqual", ">": "Greater", ">=": "GreaterOrEqual",
         "==": "Equal", "!=": "Unequal"}
BEFORE_AND_BEHIND = {"==": ("==", "=="), "!=": ("==", "==")}  # of the rank of what they replace
SPACE = "::redlock_mutants::"


def with_switches(text, numbered):
    """The text with these mutants, [(number, mutant)], in it. Lines stay where they were."""
    insertions = [insertion for number, mutant in numbered
                  for insertion in _insertions(text, number, mutant.edit)]
    parts, done = [], 0
    for begin, end, _, new in sorted(insertions, key=lambda one: (one[0], one[2])):
        parts += [text[done:begin], new]
        done = end
    return "".join([*parts, text[done:]])


def _insertions(text, number, edit):
    """(begin, end, rank, new): what stands between is replaced. Of what is put at one place, what
    closes comes before what opens, inner brackets before outer ones, and back."""
    length = edit.end - edit.at
    if edit.operator == "compare":
        old = text[edit.at:edit.end]
        before, behind = BEFORE_AND_BEHIND.get(old, ("<=", ">="))
        return [(edit.at, edit.end, (1, 0), f"{before} {SPACE}{NAMES[old]}({number}) {behind}")]
    if edit.operator == "constant":
        old = text[edit.at:edit.end]
        return [(edit.at, edit.end, (1, 0), f"{SPACE}constant({number}, {old}, {edit.new})")]
    if edit.operator == "extreme":
        begin = text.rindex("std", 0, edit.at)
        name = text[edit.at:edit.end]
        return [(begin, edit.end, (1, 0), f"{SPACE}Extreme<{number}>::{name}")]
    if edit.operator == "drop":
        return [(edit.at, edit.at, (1, -length), f"{{ if ({SPACE}keeps({number})) "),
                (edit.end, edit.end, (0, length), " }")]
    assigned = re.fullmatch(r"; !(\w+)", edit.new)
    if edit.operator == "negate" and assigned and length == 0:
        new = f"; {SPACE}negated({number}, static_cast<bool>({assigned[1]}))"
        return [(edit.at, edit.at, (1, 0), new)]
    return [(edit.at, edit.at, (1, -length), f"{SPACE}negated({number}, static_cast<bool>("),
            (edit.end, edit.end, (0, length), "))")]


def blamed(numbered, lines):
    """The mutants that make the compiler complain of these lines: those of the fewest lines around
    each."""
    found = set()
    for line in lines:
        around = [(end - begin, number) for number, mutant in numbered
                  for begin, end in [_lines_of(mutant)] if begin <= line <= end]
        shortest = min(around)[0] if around else 0
        found |= {number for length, number in around if length == shortest}
    return found


def _lines_of(mutant):
    begin = mutant.line
    return begin, begin + mutant.text.count("\n", mutant.edit.at, mutant.edit.end)

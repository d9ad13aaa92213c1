"""Mutants: single small edits of a C++ source that a test should notice.

    compare    < is <=, > is >=, == is !=, and back
    negate     the condition of an if, a while or a ?: is its opposite
    drop       a statement that is an expression is gone, or the return or continue of an early
               refusal
    constant   a whole number is larger by one
    extreme    std::min is std::max, and back

An INVARIANT is left as it is: code that is right otherwise never sees it fail.
"""

import hashlib
import re
from dataclasses import dataclass

from text import Source

COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
EXTREMES = {"min": "max", "max": "min"}
# What begins with one of these is no expression.
NO_EXPRESSION = {"if", "for", "while", "switch", "do", "case", "default", "else", "return", "break",
                 "continue", "goto", "throw", "try", "using", "static_assert", "const", "constexpr",
                 "auto", "static", "struct", "class", "enum", "typename", "template", "unsigned",
                 "INVARIANT", "namespace", "public", "private", "typedef", "friend"}

SHORT = 12  # a line of fewer characters, as `return;`, tells too little by itself


@dataclass(frozen=True)
class Edit:
    """What stands from `at` to `end` is replaced."""
    operator: str
    at: int
    end: int
    new: str


@dataclass(frozen=True)
class Mutant:
    file: str
    edit: Edit
    text: str  # of the whole source, as it ships

    @property
    def mutated(self):
        return self.text[:self.edit.at] + self.edit.new + self.text[self.edit.end:]

    @property
    def line(self):
        return self.text.count("\n", 0, self.edit.at) + 1

    @property
    def diff(self):
        """The lines that change, before and after, as one; a short one with the line above."""
        begin = self.text.rfind("\n", 0, self.edit.at) + 1
        end = self.text.find("\n", self.edit.end)
        if len(_squeezed(self.text[begin:end])) < SHORT:
            begin = self.text.rfind("\n", 0, max(begin - 1, 0)) + 1
        old, rest = self.text[begin:end], self.text[self.edit.end:end]
        new = self.text[begin:self.edit.at] + self.edit.new + rest
        return f"- {_squeezed(old)} + {_squeezed(new)}"

    @property
    def key(self):
        """The same for as long as the source is."""
        source = hashlib.sha256(self.text.encode()).hexdigest()[:12]
        return f"{self.file}@{source}:{self.edit.at}-{self.edit.end}:{self.edit.new}"

    def __str__(self):
        return f"{self.file}:{self.line}: {self.edit.operator}: {self.diff}"


def _squeezed(text):
    return re.sub(r"\s+", " ", text).strip()


def mutants(file, text):
    source = Source(text)
    invariants = list(_invariants(source))
    edits = {edit for operator in (_compare, _negate, _drop, _constant, _extreme)
             for edit in operator(source)
             if not any(begin <= edit.at < end for begin, end in invariants)}
    return [Mutant(file, edit, text)
            for edit in sorted(edits, key=lambda e: (e.at, e.end, e.operator, e.new))]


def _invariants(source):
    for number, token in enumerate(source.tokens):
        if token.text in ("INVARIANT", "static_assert") and number + 1 in source.partner:
            yield token.at, source.tokens[source.partner[number + 1]].end


def _compare(source):
    for number, token in enumerate(source.tokens):
        if token.kind == "mark" and token.text in COMPARISONS and _compares(source, number):
            yield Edit("compare", token.at, token.end, COMPARISONS[token.text])


def _compares(source, number):
    if source.word(number - 1) in ("operator", "template"):
        return False
    return source.is_between_blanks(number)


def _constant(source):
    for token in source.tokens:
        if token.kind != "number":
            continue
        hexadecimal = re.fullmatch(r"0[xX]([0-9a-fA-F']+?)([uUlL]*)", token.text)
        decimal = re.fullmatch(r"(\d[\d']*)([a-zA-Z]*)", token.text)
        if hexadecimal:
            new = f"{int(hexadecimal[1].replace(chr(39), ''), 16) + 1:#x}{hexadecimal[2]}"
        elif decimal and not re.match(r"0[bB\d]", token.text):
            new = f"{int(decimal[1].replace(chr(39), '')) + 1}{decimal[2]}"
        else:
            continue  # a fraction, or written in another way
        yield Edit("constant", token.at, token.end, new)


def _extreme(source):
    for number, token in enumerate(source.tokens):
        is_function = source.word(number + 1) in ("(", "<")
        is_std = source.word(number - 1) == "::" and source.word(number - 2) == "std"
        if token.text in EXTREMES and token.kind == "word" and is_function and is_std:
            yield Edit("extreme", token.at, token.end, EXTREMES[token.text])


# --- conditions


def _negate(source):
    for last, (keyword, first) in source.heads.items():
        if keyword in ("if", "while") and last > first + 1:
            yield from _negate_head(source, first, last)
    for number, token in enumerate(source.tokens):
        if token.text == "?" and token.kind == "mark":
            begin = source.begin_of_operand(number)
            yield from _negate_span(source, begin, number - 1)


def _negate_head(source, first, last):
    """`if (c)`, `if (x = y; c)` and `if (T x = y)`."""
    inside = list(source.level(first + 1, last - 1))
    ends = [number for number in inside if source.word(number) == ";"]
    begin = ends[-1] + 1 if ends else first + 1
    assigned = [number for number in inside if source.word(number) == "=" and number > begin]
    if assigned:
        name = source.word(assigned[0] - 1)
        at = source.tokens[last].at
        yield Edit("negate", at, at, f"; !{name}")
        return
    yield from _negate_span(source, begin, last - 1)


def _negate_span(source, first, last):
    words = [source.word(number) for number in source.level(first, last)]
    is_one_comparison = not {"&&", "||", "?"} & set(words) and {"==", "!="} & set(words)
    if first > last or is_one_comparison:  # which is turned already
        return
    at, end = source.tokens[first].at, source.tokens[last].end
    yield Edit("negate", at, end, f"!({source.text[at:end]})")


# --- statements


def _drop(source):
    for first, last, guarded in source.statements():
        begins = source.word(first)
        is_refusal = guarded and begins in ("return", "continue")
        if is_refusal or (begins not in NO_EXPRESSION and not _declares(source, first, last)):
            yield Edit("drop", source.tokens[first].at, source.tokens[last].end, ";")


def _declares(source, first, last):
    """`Type name`, `a::Type<b>& name`: a type, and then another word."""
    match = re.match(r"(?:::)?\w+(?:::\w+)*\s*(?:<.*?>)?(?:::\w+)*[&*\s]*\s*[&*]*\s*",
                     source.span(first, last))
    return bool(match) and re.match(r"[\[\w]", source.span(first, last)[match.end():]) is not None \
        and re.search(r"[\s&*>]$", match.group()) is not None

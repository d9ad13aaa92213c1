"""Just enough of C++ to cut a source into tokens, statements and conditions.

Comments, directives and strings are no code; brackets know their partners; types are not known. A
`<` between blanks compares, any other belongs to a template: so the formatter lays them out.
"""

import re
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""(?P<blank>\s+)
      | (?P<comment>//[^\n]* | /\*.*?\*/)
      | (?P<directive>\#(?:\\\n|[^\n])*)
      | (?P<string>R"(?P<end>[^(\s]*)\(.*?\)(?P=end)" | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])+')
      | (?P<number>\d(?:'?\w)*(?:\.[\w']*)?)
      | (?P<word>[A-Za-z_]\w*)
      | (?P<mark><=>|\.\.\.|<<=|>>=|::|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)""",
    re.X | re.S)

_OPENERS = {")": "(", "]": "[", "}": "{"}
_HEADS = ("if", "while", "for", "switch")


@dataclass
class Token:
    kind: str  # string, number, word, mark
    text: str
    at: int

    @property
    def end(self):
        return self.at + len(self.text)


class Source:
    """A text as tokens; everything below speaks of tokens by their numbers."""

    def __init__(self, text):
        self.text = text
        self.tokens = [Token(match.lastgroup, match.group(), match.start())
                       for match in _TOKEN.finditer(text)
                       if match.lastgroup not in ("blank", "comment", "directive")]
        self.partner = {}  # of each bracket
        self._pair()
        self.heads = dict(self._find_heads())
        self.blocks = self._find_blocks()

    def _pair(self):
        opened = []
        for number, token in enumerate(self.tokens):
            if token.kind == "mark" and token.text in _OPENERS.values():
                opened.append(number)
            elif token.kind == "mark" and token.text in _OPENERS and opened:
                self.partner[opened[-1]] = number
                self.partner[number] = opened.pop()

    def word(self, number):
        """The text of a token; of none, beyond either end, empty."""
        return self.tokens[number].text if 0 <= number < len(self.tokens) else ""

    def span(self, first, last):
        return self.text[self.tokens[first].at:self.tokens[last].end]

    def is_between_blanks(self, number):
        token = self.tokens[number]
        around = self.text[token.at - 1:token.at] + self.text[token.end:token.end + 1]
        return len(around) == 2 and around.isspace()

    def level(self, first, last):
        """The tokens from first to last that stand in no bracket that opens there."""
        number = first
        while number <= last:
            yield number
            is_opener = self.word(number) in _OPENERS.values() and number in self.partner
            number = self.partner[number] if is_opener else number + 1

    def begin_of_operand(self, number):
        """Where the expression begins that ends before this token, a `?`."""
        stops = ("=", "return", ",", ";", "?", ":", "{", "(", "[", "<<", "")
        number -= 1
        while self.word(number) not in stops:
            number = self.partner.get(number, number) - 1
        return number + 1

    # --- blocks and statements

    def _find_heads(self):
        """{closing bracket: (keyword, opening bracket)} of each if, while, for and switch."""
        for number, token in enumerate(self.tokens):
            if token.kind == "word" and token.text in _HEADS and self.word(number + 1) == "(":
                yield self.partner[number + 1], (token.text, number + 1)

    def _find_blocks(self):
        """The braces that open statements, not a type, a namespace or a list of values."""
        found = []
        for number, token in enumerate(self.tokens):
            if token.kind == "mark" and token.text == "{" and self._opens_block(number, found):
                found.append(number)
        return found

    def _opens_block(self, number, known):
        before = self.word(number - 1)
        if before in (")", "else", "do", "const", "noexcept", "override", "mutable"):
            return True
        if before == "]":  # of a lambda, not of a type such as char[]
            return self.word(self.partner[number - 1] - 1) in ("(", ",", "=", "return")
        if before == "}" and re.fullmatch(r"\w+_", self.word(self.partner[number - 1] - 1)):
            return True  # behind the last of `: a_(1), b_{2}`
        return self._has_trailing_type(number) or (
            before in (";", "}", "{", ":") and self._outer(number) in known)

    def _has_trailing_type(self, number):
        """`(…) -> Type {` of a lambda or a function."""
        number -= 1
        while self.word(number) in ("::", "<", ">", "&", "*") or self.word(number).isidentifier():
            number -= 1
        return self.word(number) == "->" and self.word(number - 1) == ")"

    def _outer(self, number):
        """The bracket that is open around a token."""
        number -= 1
        while number >= 0 and self.word(number) not in _OPENERS.values():
            number = self.partner.get(number, number) - 1
        return number

    def statements(self):
        """(first token, its ';', whether it is all that an if decides on) of the simple ones."""
        for opener in self.blocks:
            yield from self._statements_of(opener)

    def _statements_of(self, opener):
        last = self.partner[opener]
        begin, guarded = opener + 1, self._refuses(opener)
        for number in self.level(opener + 1, last - 1):
            text = self.word(number)
            begin_next = number + 1
            if text == ";" and number > begin:
                yield begin, number, guarded
            if number in self.heads:
                guarded = self.heads[number][0] == "if"
            elif text in (";", "else", "do") or (text == "}" and self.partner[number] == begin):
                guarded = self._refuses(opener)
            elif text != ":" or self.word(begin) not in ("case", "default"):
                begin_next = begin
            begin = begin_next

    def _refuses(self, opener):
        """Whether this is the block of an if behind which the function goes on."""
        behind = self.word(self.partner[opener] + 1)
        return self.heads.get(opener - 1, ("",))[0] == "if" and behind not in ("}", "else")

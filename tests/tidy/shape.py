"""The checks of each file: how it begins, its lines, its functions, its words."""

import re

import house
from checks import check
from tree import CPP, line_of


@check({"base/a.h": "#pragma once\n"}, {"base/a.h": "// What a thing is for.\n"},
       {"base/a.h": "// Locks.\n#pragma once\n"},
       good=[{"base/a.h": "// What a thing is for.\n#pragma once\n"}])
def headers_open_with_what_they_are_for(tree):
    for path in tree.paths(".h"):
        comment = re.match(r"(//[^\n]*\n)*", tree[path]).group()
        if len(re.findall(r"\w+", comment)) < 3:
            yield f"{path}:1: a header opens with a comment: what it is for, how to use it"
        if not re.match(r"\s*#pragma once\n", tree[path][len(comment):]):
            yield f"{path}:1: #pragma once follows the opening comment"


@check({"base/a.cpp": "\tint a;\n"}, {"base/a.cpp": "int a; \n"}, {"base/a.cpp": "int a;"},
       {"base/a.cpp": "int a;\r\n"}, {"base/a.cpp": "//" + "é" * 99 + "\n"},
       {"base/a.cpp": "int a;\n\n"}, {"base/a.cpp": "// \udcff\n"},
       {"base/a.cpp": "int a;\n" * 401}, {"tests/a.py": "\n" * 600 + "a\n"},
       good=[{"base/a.cpp": "//" + "é" * 98 + "\n"}, {"tests/a.txt": "a \tb\t\r\n"},
             {"lua/a.cpp": 'auto s = R"lua(if \n\t ' + "x" * 120 + '\n)lua";\n'}])
def lines_are_clean(tree):
    """Spaces, 100 columns, one newline at the end, and no file that is too long to read."""
    for path in tree.sources():
        text = tree.layout(path)
        lines = text.split("\n")
        for number, line in enumerate(lines, 1):
            if re.search(r"[\t\r]|\s$", line):
                yield f"{path}:{number}: a tab, a carriage return, or a blank at the end"
            if re.search("[\udc80-\udcff]", line):
                yield f"{path}:{number}: is no UTF-8"
            if len(line) > house.COLUMNS_MAX:
                yield f"{path}:{number}: {len(line)} columns of at most {house.COLUMNS_MAX}"
        if text and (not text.endswith("\n") or text.endswith("\n\n")):
            yield f"{path}:{len(lines)}: ends with one newline"
        most = house.TEST_LINES_MAX if path.startswith("tests/") else house.FILE_LINES_MAX
        if len(lines) - 1 > most:
            yield f"{path}: {len(lines) - 1} lines of at most {most}"


_LONG_BODY = "  step();\n" * 50


@check({"base/a.cpp": f"void f(int a) {{\n{_LONG_BODY}}}\n"},
       {"base/a.h": f"class A {{\n  int f() const override {{\n{_LONG_BODY}  }}\n}};\n"},
       {"base/a.cpp": f"A::A(int b)\n    : b_(b), c_{{1}} {{\n{_LONG_BODY}}}\n"},
       {"base/a.cpp": f'TEST_CASE("a") {{\n{_LONG_BODY}}}\n'},
       {"base/a.cpp": f"bool operator==(A a, A b) {{\n{_LONG_BODY}}}\n"},
       {"tests/a.py": "def f():\n" + "    step()\n" * 50},
       good=[{"base/a.cpp": f"namespace a {{\n{_LONG_BODY}}}\n"},
             {"base/a.cpp": f"constexpr Row kRows[] = {{\n{_LONG_BODY}}};\n"},
             {"base/a.cpp": f"const auto kRows = make({{\n{_LONG_BODY}}});\n"},
             {"base/a.h": f"template <class A>\nclass F<int(A...)> {{\n{_LONG_BODY}}};\n"},
             {"base/a.cpp": "void f() {\n}\n" * 60}])
def functions_are_short(tree):
    limit = house.FUNCTION_LINES_MAX
    for path in tree.paths(*CPP):
        for start, length in _functions(tree.code(path)):
            if length > limit:
                yield f"{path}:{start}: a function of {length} lines; at most {limit}"
    for path in tree.paths(".py"):
        for match in re.finditer(r"^( *)def .*\n(?:(?:\1 .*)?\n)*", tree[path], re.M):
            length = match.group().rstrip().count("\n") + 1
            if length > limit:
                start = line_of(tree[path], match.start())
                yield f"{path}:{start}: a function of {length} lines; at most {limit}"


def _functions(code):
    """(line, lines) of every outermost function: a brace that follows a parameter list.

    Braces of namespaces and types are looked into; within a function nothing is told apart.
    """
    code = re.sub(r"^\s*#.*?(?<!\\)$", "", code, flags=re.M)
    depth, inside, since = 0, None, 0  # inside: (depth, offset) of the function we are in
    for match in re.finditer(r"[{};]", code):
        if match.group() == "{":
            head = code[since:match.start()]
            if inside is None and _is_function(head):
                inside = (depth, since + len(head) - len(head.lstrip()))
            depth += 1
        elif match.group() == "}":
            depth -= 1
            if inside and inside[0] == depth and not _continues(code, match.end()):
                first, last = line_of(code, inside[1]), line_of(code, match.start())
                yield first, last - first + 1
                inside = None
        since = match.end()


def _is_function(head):
    """`name(…`, but no initializer (`table = make({`) and no type (`class F<R(A...)> {`)."""
    if re.match(r"\s*(template\s*<.*>\s*)?(class|struct)\b", head, re.S):
        return False
    name, parenthesis, _ = head.partition("(")
    return bool(parenthesis) and ("operator" in name or "=" not in name)


def _continues(code, offset):
    """After the brace of a member's initializer (`: b_{1} {`) the body is still to come."""
    return re.match(r"\s*[,{]", code[offset:]) is not None


@check({"tests/a.cpp": '  SECTION("a") {\n    f();\n    return;\n  }\n'},
       good=[{"tests/a.cpp": '  SECTION("a") {\n    f([] {\n      return;\n    });\n  }\n'}])
def sections_do_not_return(tree):
    """Those behind a SECTION that returns are not known by then, and may never run."""
    for path in tree.paths(".cpp"):
        for match in re.finditer(r"^( *)SECTION\(.*\) \{\n(?:(?:\1 .*)?\n)*?\1  return;\n",
                                 tree[path], re.M):
            yield f"{path}:{line_of(tree[path], match.end()) - 1}: a SECTION that returns"


@check({"base/a.h": "//   case a: handle(); break; case b: keep it, come back; case\n"},
       good=[{"base/a.h": "//   case a:\n//     handle();\n//     break;\n"},
             {"base/a.h": "// A loop ends at its break; the rest is not read.\n"}])
def examples_keep_their_lines(tree):
    """An example in a comment, which stands further in, was not run together by a formatter."""
    for path, line, _ in _search(tree, r"(?m)^ *// {2,}.*\b(break|continue);(?= +[a-z}])"):
        yield f"{path}:{line}: an example whose lines were run together"


@check({"base/a.h": f"// {'Its words ' * 7}leave no room for\n// one.\n"},
       good=[{"base/a.h": "// Short.\n// Two.\n"}])
def comments_end_in_more_than_a_word(tree):
    """The last line of a comment is no single word that the line before it had no room for."""
    for path, line, _ in _search(tree, r"(?m)^( *)// \S.{70,}\n\1// \S{1,15}\n(?! *// \S)"):
        yield f"{path}:{line + 1}: a word alone on a comment's last line"


@check(*({"base/a.h": f"// {word}: later\n"} for word in ("TO" "DO", "FIX" "ME", "X" "XX")),
       good=[{"tests/fresh.sh": "mktemp -d /tmp/redlock.XXXXXX\n"}])
def nothing_is_put_off(tree):
    for path, line, word in _search(tree, r"\b(TO" r"DO|FIX" r"ME|X" r"XX)\b"):
        yield f"{path}:{line}: {word}: do it, or leave the thought out"


@check({"tests/a.sh": "cd /wo" "rk/main\n"}, {"docs/a.md": "run /ho" "me/alice/dev\n"},
       {"base/a.cpp": 'open("/ro' 'ot/state")\n'},
       good=[{"tests/a.sh": "HOME=/root; cd tests/work/a\n"}])
def no_machine_is_named(tree):
    for path, line, word in _search(tree, r"(?<![\w.$}])/(?:wo" r"rk|ro" r"ot|ho" r"me/\w+)/\w"):
        yield f"{path}:{line}: {word}… is a place on somebody's machine"


def _search(tree, pattern):
    for path in tree.paths():
        for match in re.finditer(pattern, tree[path]):
            yield path, line_of(tree[path], match.start()), match.group()

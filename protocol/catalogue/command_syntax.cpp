#include "protocol/catalogue/command_syntax.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

namespace redlock::protocol {
namespace {

using Arguments = std::vector<SyntaxArgument>;
using Type = SyntaxArgument::Type;

constexpr std::string_view kRepeat = "...";
constexpr std::string_view kPunctuation = "[]<>|";

// Arguments that are numbers, by the names that Redis's own documentation gives them.
constexpr std::string_view kIntegers[] = {
    "client-id", "count",       "cursor",  "decrement",    "end",        "floor",
    "increment", "index",       "numkeys", "milliseconds", "offset",     "protover",
    "seconds",   "numreplicas", "start",   "timeout",      "timeout-ms", "ttl"};

std::vector<std::string_view> lexemes(std::string_view syntax) {
  std::vector<std::string_view> out;
  while (true) {
    syntax.remove_prefix(std::min(syntax.find_first_not_of(' '), syntax.size()));
    if (syntax.empty()) return out;
    const bool is_single = kPunctuation.find(syntax.front()) != std::string_view::npos;
    const std::size_t end = is_single ? 1 : syntax.find_first_of(" []<>|");
    out.push_back(syntax.substr(0, end));
    syntax.remove_prefix(out.back().size());
  }
}

bool is_mark(std::string_view lexeme) {
  return lexeme == kRepeat || kPunctuation.find(lexeme.front()) != std::string_view::npos;
}

// A word that is sent as it stands: no small letters in it.
bool is_token(std::string_view word) {
  return std::none_of(word.begin(), word.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

Type type_of(std::string_view name) {
  if (name == "key" || name == "newkey" || name == "destination") return Type::key;
  if (name == "pattern") return Type::pattern;
  if (name.starts_with("unix-time")) return Type::unix_time;
  const bool is_integer =
      std::find(std::begin(kIntegers), std::end(kIntegers), name) != std::end(kIntegers);
  return is_integer ? Type::integer : Type::string;
}

SyntaxArgument scalar(std::string_view name) {
  SyntaxArgument argument;
  argument.type = type_of(name);
  argument.name = name;
  return argument;
}

SyntaxArgument group(Type type, Arguments within) {
  SyntaxArgument argument;
  argument.type = type;
  for (const auto& inner : within) {
    if (!argument.name.empty()) argument.name += '-';
    argument.name += inner.name;
  }
  argument.arguments = std::move(within);
  return argument;
}

// One argument stands for itself, several are a block.
SyntaxArgument as_one(Arguments arguments) {
  if (arguments.size() == 1) return std::move(arguments.front());
  return group(Type::block, std::move(arguments));
}

bool is_same(const SyntaxArgument& a, const SyntaxArgument& b) {
  return a.type == b.type && a.name == b.name;
}

// "key value" followed by "[key value ...]": what stands at the end becomes repeatable, and true.
// False when the repetition is of something new.
bool fold_repetition(Arguments& arguments, const Arguments& repeated) {
  if (arguments.size() >= repeated.size()) {
    const auto tail = arguments.end() - static_cast<std::ptrdiff_t>(repeated.size());
    if (std::equal(tail, arguments.end(), repeated.begin(), is_same)) {
      SyntaxArgument one = as_one(
          Arguments(std::make_move_iterator(tail), std::make_move_iterator(arguments.end())));
      one.is_multiple = true;
      one.repeats_token = !repeated.front().token.empty() && repeated.size() == 1;
      arguments.erase(tail, arguments.end());
      arguments.push_back(std::move(one));
      return true;
    }
  }
  if (arguments.empty() || arguments.back().type != Type::block) return false;
  return fold_repetition(arguments.back().arguments, repeated);  // "FIELDS count field [field ...]"
}

// Recursive descent; every step returns false when the line is broken, and `problem` says why.
class Parser {
 public:
  explicit Parser(std::string_view syntax) : lexemes_(lexemes(syntax)) {}

  bool parse(Arguments& out) {
    if (lexemes_.empty()) return true;
    std::vector<Arguments> alternatives;
    if (!read_alternatives(alternatives)) return false;
    if (!at_end()) return fail("a bracket is closed that was not opened, or ... is misplaced");
    if (alternatives.size() == 1) {
      out = std::move(alternatives.front());
    } else {
      out.push_back(choice(std::move(alternatives)));
    }
    return true;
  }

  std::string_view problem() const { return problem_; }

 private:
  static SyntaxArgument choice(std::vector<Arguments> alternatives) {
    if (alternatives.size() == 1) return as_one(std::move(alternatives.front()));
    Arguments within;
    for (auto& alternative : alternatives) within.push_back(as_one(std::move(alternative)));
    return group(Type::oneof, std::move(within));
  }

  bool read_alternatives(std::vector<Arguments>& alternatives) {
    do {
      Arguments sequence;
      if (!read_sequence(sequence)) return false;
      if (sequence.empty()) return fail("a group or an alternative is empty");
      alternatives.push_back(std::move(sequence));
    } while (take("|"));
    return true;
  }

  bool read_sequence(Arguments& out) {
    while (!at_end()) {
      if (take("[")) {
        if (!read_optional(out)) return false;
      } else if (take("<")) {
        SyntaxArgument required;
        if (!read_required(required)) return false;
        out.push_back(std::move(required));
      } else if (is_mark(next())) {
        return true;
      } else if (is_token(next())) {
        if (!read_token(out)) return false;
      } else {
        out.push_back(scalar(take()));
      }
    }
    return true;
  }

  bool read_optional(Arguments& out) {
    std::vector<Arguments> alternatives;
    if (!read_alternatives(alternatives)) return false;
    const bool repeats = take(kRepeat);
    if (!take("]")) return fail("a [ is not closed");
    if (repeats && alternatives.size() == 1 && fold_repetition(out, alternatives.front())) {
      return true;
    }
    out.push_back(choice(std::move(alternatives)));
    out.back().is_optional = true;
    out.back().is_multiple |= repeats;
    return true;
  }

  bool read_required(SyntaxArgument& out) {
    std::vector<Arguments> alternatives;
    if (!read_alternatives(alternatives)) return false;
    if (!take(">")) return fail("a < is not closed");
    out = choice(std::move(alternatives));
    return true;
  }

  // A token with what belongs to it: the group or the plain arguments right behind it.
  bool read_token(Arguments& out) {
    const std::string_view token = take();
    SyntaxArgument argument;
    if (take("<")) {
      if (!read_required(argument)) return false;
    } else {
      Arguments owned;
      while (!at_end() && !is_mark(next()) && !is_token(next())) owned.push_back(scalar(take()));
      if (owned.empty()) {
        argument.type = Type::pure_token;
        argument.name = lower_case(token);
      } else {
        argument = as_one(std::move(owned));
      }
    }
    argument.token = token;
    out.push_back(std::move(argument));
    return true;
  }

  bool at_end() const { return at_ == lexemes_.size(); }
  std::string_view next() const { return lexemes_[at_]; }
  std::string_view take() { return lexemes_[at_++]; }
  bool take(std::string_view wanted) {
    if (at_end() || next() != wanted) return false;
    ++at_;
    return true;
  }
  bool fail(std::string_view problem) {
    problem_ = problem;
    return false;
  }

  std::vector<std::string_view> lexemes_;
  std::size_t at_ = 0;
  std::string_view problem_;
};

}  // namespace

Result<Arguments> parse_command_syntax(std::string_view syntax) {
  Parser parser(syntax);
  Arguments arguments;
  if (parser.parse(arguments)) return arguments;
  return Failure{fmt::format("in the syntax '{}' {}", syntax, parser.problem())};
}

std::string_view type_name(Type type) {
  switch (type) {
    case Type::string:
      return "string";
    case Type::integer:
      return "integer";
    case Type::key:
      return "key";
    case Type::pattern:
      return "pattern";
    case Type::unix_time:
      return "unix-time";
    case Type::pure_token:
      return "pure-token";
    case Type::oneof:
      return "oneof";
    case Type::block:
      break;
  }
  return "block";
}

}  // namespace redlock::protocol

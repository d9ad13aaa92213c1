// The arguments of a command, read from the one line that describes them to people
// (CommandSpec::syntax), so that hint and documentation cannot disagree.
//
//   key value [NX|XX] [GET] [EX seconds|PX milliseconds|KEEPTTL]
//
//   name             an argument that must be there
//   NAME             a word to be sent as it stands, with the arguments that belong to it behind it
//   [ … ]            may be left out
//   < … >            must be there; groups alternatives, as in "[TYPE <NORMAL|PUBSUB>]"
//   a b|c d          alternatives: the bar parts the whole of its brackets, or of the line
//   key [key ...]    once or more; "[key ...]" alone: any number of times
//   k v [k v ...]    the same for several together
//
// COMMAND DOCS tells the result as Redis tells its own (protocol/catalogue/command_docs.h).
#pragma once

#include <redlock/result.h>

#include <string>
#include <string_view>
#include <vector>

namespace redlock::protocol {

struct SyntaxArgument {
  enum class Type { string, integer, key, pattern, unix_time, pure_token, oneof, block };

  Type type = Type::string;
  std::string name;   // of a group: the names within, joined by '-'
  std::string token;  // the word before it; a pure token has nothing else
  bool is_optional = false;
  bool is_multiple = false;
  bool repeats_token = false;             // with is_multiple: "[PREFIX p [PREFIX p ...]]"
  std::vector<SyntaxArgument> arguments;  // of a oneof, a block

  bool is_group() const { return type == Type::oneof || type == Type::block; }
};

// Fails on brackets that do not pair and on empty groups, with a sentence that shows the line.
Result<std::vector<SyntaxArgument>> parse_command_syntax(std::string_view syntax);

// COMMAND DOCS' word for a type: "string", "unix-time", "pure-token", …
std::string_view type_name(SyntaxArgument::Type type);

}  // namespace redlock::protocol

// A transcript: a text file of requests and the answers they are to get. README has the format.
#pragma once

#include "base/time.h"
#include <redlock/result.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::transcript {

// `name words…`, as a line of a configuration file.
struct SettingLine {
  std::string name;
  std::vector<std::string> words;
};

struct Expected {
  std::string node;
  std::string redis;
};

// What happens next: exactly one of these.
struct Step {
  enum class Kind { request, message, wait, resp3 };

  Kind kind = Kind::request;
  int line = 0;
  std::string client = {};              // of all but wait; empty: the first one
  std::string text = {};                // of request and message: the line, for people
  std::vector<std::string> words = {};  // of request
  std::optional<Expected> answer = {};  // of both; never missing in what read_transcript returns
  Duration wait = {};
};

struct Transcript {
  std::vector<SettingLine> node_settings;
  std::vector<SettingLine> redis_settings;
  std::vector<Step> steps;
};

// A failure names the line and what is wrong with it.
Result<Transcript> read_transcript(std::string_view text);

// Whether an answer is what the file wants: equal, but that `1..9` in the pattern stands for a
// number in this range and `<any>` for any text.
bool matches(std::string_view pattern, std::string_view answer);

}  // namespace redlock::transcript

#include "base/text/quoted_words.h"

#include "base/text/words.h"

#include <cctype>
#include <charconv>

namespace redlock {
namespace {

bool is_blank(char c) {
  return kWordBlanks.find(c) != std::string_view::npos;
}

class Splitter {
 public:
  explicit Splitter(std::string_view line) : rest_(line) {}

  std::optional<std::vector<std::string>> split() {
    std::vector<std::string> words;
    while (true) {
      while (!rest_.empty() && is_blank(rest_.front())) rest_.remove_prefix(1);
      if (rest_.empty()) return words;
      std::string word;
      if (!take_word(word)) return std::nullopt;
      words.push_back(std::move(word));
    }
  }

 private:
  // False when a quote is left open or is followed by more of the word.
  bool take_word(std::string& word) {
    while (!rest_.empty() && !is_blank(rest_.front())) {
      const char c = take();
      if (c == '"' || c == '\'') return take_quoted(c, word) && at_word_end();
      word += c;
    }
    return true;
  }

  bool take_quoted(char quote, std::string& word) {
    while (!rest_.empty()) {
      const char c = take();
      if (c == quote) return true;
      if (c != '\\' || rest_.empty()) {
        word += c;
      } else if (quote == '"') {
        word += take_escaped();
      } else if (rest_.front() == '\'') {
        word += take();
      } else {
        word += c;
      }
    }
    return false;
  }

  char take_escaped() {
    const char c = take();
    switch (c) {
      case 'n':
        return '\n';
      case 'r':
        return '\r';
      case 't':
        return '\t';
      case 'b':
        return '\b';
      case 'a':
        return '\a';
      case 'x':
        return take_hex_byte();
      default:
        return c;
    }
  }

  // What follows \x: two hex digits, else the x stands for itself.
  char take_hex_byte() {
    unsigned byte = 0;
    if (rest_.size() < 2) return 'x';
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + 2, byte, 16);
    if (error != std::errc() || end != rest_.data() + 2) return 'x';
    rest_.remove_prefix(2);
    return static_cast<char>(byte);
  }

  bool at_word_end() const { return rest_.empty() || is_blank(rest_.front()); }

  char take() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  std::string_view rest_;
};

}  // namespace

std::optional<std::vector<std::string>> split_quoted_words(std::string_view line) {
  return Splitter(line).split();
}

std::string quoted_word(std::string_view word) {
  constexpr std::string_view kEscaped = "\"\\\n\r\t\a\b";
  constexpr std::string_view kLetters = "\"\\nrtab";
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    if (const std::size_t escaped = kEscaped.find(c); escaped != std::string_view::npos) {
      out += '\\';
      out += kLetters[escaped];
    } else if (byte < 0x20 || byte >= 0x7f) {
      out += "\\x";
      out += kDigits[byte / 16];
      out += kDigits[byte % 16];
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace redlock

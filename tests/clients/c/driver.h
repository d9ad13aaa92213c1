// What the C drivers share: the protocol of tests/clients/contender.py, and the single-node recipe
// of Redis's own pages over whatever way the driver has to ask.
//
//   static enum answer monitor(char *text) { ... }
//   static const struct feature features[] = {{"monitor", monitor}, {NULL, NULL}};
//   int main(void) { return serve(features); }
#pragma once

#include <stddef.h>

enum { TEXT_MAX = 512 };

enum answer { YES, NO, ERROR };

// A reply of the server as the recipe needs it: hiredis's own lives no longer than its callback.
struct told {
  int type;           // REDIS_REPLY_*; 0: none came, and the text says why
  long long integer;  // of REDIS_REPLY_INTEGER; of an array, how many elements
  char text[TEXT_MAX];
};

struct feature {
  const char* name;
  enum answer (*run)(char* text);  // text: room for TEXT_MAX, what an error says
};

// The driver's own: connects anew, whatever there was before; 0, or -1 with the reason in text.
int connect_to(const char* host, int port, char* text);
// The driver's own: one command and its reply. A connection that broke is made again by the next.
void ask(struct told* told, int count, const char* const* words);

#define ASK(told, ...)                                                 \
  do {                                                                 \
    const char* const ask_words[] = {__VA_ARGS__};                     \
    ask(told, (int)(sizeof ask_words / sizeof *ask_words), ask_words); \
  } while (0)

int is_status(const struct told* told, const char* text);
int is_integer(const struct told* told, long long integer);
// What is wrong, with the reply that shows it; always ERROR.
enum answer wrong(char* text, const char* what, const struct told* told);

int serve(const struct feature* features);

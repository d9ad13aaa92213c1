#include "driver.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

enum { WORDS_MAX = 16, LINE_MAX_BYTES = 4096, VALUE_BYTES = 20, LOCKS_MAX = 256, RETRY_MS = 20 };

static const char* const kExtend =
    "if redis.call(\"get\",KEYS[1]) == ARGV[1] then "
    "return redis.call(\"pexpire\",KEYS[1],ARGV[2]) else return 0 end";
static const char* const kRelease =
    "if redis.call(\"get\",KEYS[1]) == ARGV[1] then "
    "return redis.call(\"del\",KEYS[1]) else return 0 end";

static char extend_sha[41];
static char release_sha[41];

static struct lock {
  char name[64];
  char value[2 * VALUE_BYTES + 1];
} locks[LOCKS_MAX];
static size_t locks_known;

static double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

// --- replies ---

int is_status(const struct told* told, const char* text) {
  return told->type == REDIS_REPLY_STATUS && strcmp(told->text, text) == 0;
}

int is_integer(const struct told* told, long long integer) {
  return told->type == REDIS_REPLY_INTEGER && told->integer == integer;
}

enum answer wrong(char* text, const char* what, const struct told* told) {
  snprintf(text, TEXT_MAX, "%s: type %d, %lld, %.300s", what, told->type, told->integer,
           told->text);
  return ERROR;
}

static enum answer one_or_zero(const struct told* told, char* text) {
  if (told->type == REDIS_REPLY_INTEGER) return told->integer == 1 ? YES : NO;
  snprintf(text, TEXT_MAX, "%s", told->text);
  return ERROR;
}

// --- the recipe ---

static struct lock* find_lock(const char* name) {
  for (size_t i = 0; i < locks_known; ++i) {
    if (strcmp(locks[i].name, name) == 0) return &locks[i];
  }
  return NULL;
}

static struct lock* make_lock(const char* name) {
  struct lock* lock = find_lock(name);
  if (lock != NULL) return lock;
  if (locks_known == LOCKS_MAX) abort();
  lock = &locks[locks_known++];
  snprintf(lock->name, sizeof lock->name, "%s", name);
  return lock;
}

static void make_value(char* value) {
  unsigned char bytes[VALUE_BYTES];
  if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) abort();
  for (size_t i = 0; i < sizeof bytes; ++i) sprintf(value + 2 * i, "%02x", bytes[i]);
}

// EVALSHA, and EVAL when the node does not know the script any more.
static void run_script(struct told* told, const char* sha, const char* script, const char* name,
                       const char* value, const char* ttl) {
  ASK(told, "EVALSHA", sha, "1", name, value, ttl);
  if (told->type == REDIS_REPLY_ERROR && strncmp(told->text, "NOSCRIPT ", 9) == 0) {
    ASK(told, "EVAL", script, "1", name, value, ttl);
  }
}

static enum answer acquire(const char* name, const char* ttl, const char* wait, char* text) {
  const double end = now_ms() + atof(wait);
  for (;;) {
    char value[2 * VALUE_BYTES + 1];
    struct told told;
    make_value(value);
    ASK(&told, "SET", name, value, "NX", "PX", ttl);
    if (is_status(&told, "OK")) {
      strcpy(make_lock(name)->value, value);
      return YES;
    }
    if (told.type != REDIS_REPLY_NIL) {
      snprintf(text, TEXT_MAX, "%s", told.text);
      return ERROR;
    }
    if (now_ms() >= end) return NO;
    nanosleep(&(struct timespec){.tv_nsec = RETRY_MS * 1000000L}, NULL);
  }
}

static enum answer extend(const char* name, const char* ttl, char* text) {
  struct told told;
  run_script(&told, extend_sha, kExtend, name, find_lock(name)->value, ttl);
  return one_or_zero(&told, text);
}

static enum answer release(const char* name, char* text) {
  struct told told;
  run_script(&told, release_sha, kRelease, name, find_lock(name)->value, "");
  return one_or_zero(&told, text);
}

static enum answer load(const char* script, char* sha, char* text) {
  struct told told;
  ASK(&told, "SCRIPT", "LOAD", script);
  if (told.type != REDIS_REPLY_STRING) return wrong(text, "SCRIPT LOAD", &told);
  snprintf(sha, 41, "%.40s", told.text);
  return YES;
}

static enum answer open_first(char* address, const struct feature* features, char* text) {
  char* port = strrchr(address, ':');
  *port++ = '\0';
  if (connect_to(address, atoi(port), text) != 0) return ERROR;
  if (load(kExtend, extend_sha, text) != YES) return ERROR;
  if (load(kRelease, release_sha, text) != YES) return ERROR;
  size_t used = (size_t)snprintf(text, TEXT_MAX, "acquire extend release");
  for (; features->name != NULL; ++features) {
    used += (size_t)snprintf(text + used, TEXT_MAX - used, " %s", features->name);
  }
  return YES;
}

// --- the protocol ---

static enum answer run(int count, char** words, const struct feature* features, char* text) {
  const char* word = words[0];
  if (strcmp(word, "open") == 0 && count > 1) return open_first(words[1], features, text);
  if (strcmp(word, "acquire") == 0 && count == 4) {
    return acquire(words[1], words[2], words[3], text);
  }
  if (strcmp(word, "extend") == 0 && count == 3) return extend(words[1], words[2], text);
  if (strcmp(word, "release") == 0 && count == 2) return release(words[1], text);
  for (; features->name != NULL; ++features) {
    if (strcmp(word, features->name) == 0) return features->run(text);
  }
  snprintf(text, TEXT_MAX, "unknown word");
  return ERROR;
}

static int split(char* line, char** words) {
  int count = 0;
  for (char* word = strtok(line, " \n"); word != NULL; word = strtok(NULL, " \n")) {
    if (count < WORDS_MAX) words[count++] = word;
  }
  return count;
}

int serve(const struct feature* features) {
  static const char* const kAnswers[] = {"yes", "no", "error"};
  char line[LINE_MAX_BYTES];
  while (fgets(line, sizeof line, stdin) != NULL) {
    char* words[WORDS_MAX];
    char text[TEXT_MAX] = "";
    const int count = split(line, words);
    if (count == 0) continue;
    const double started = now_ms();
    const enum answer answer = run(count, words, features, text);
    for (char* c = text; *c != '\0'; ++c) {
      if (*c == '\n' || *c == '\r') *c = ' ';
    }
    printf("= %s %.3f %s\n", kAnswers[answer], now_ms() - started, text);
    fflush(stdout);
  }
  return 0;
}

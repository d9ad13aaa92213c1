// hiredis, its blocking side: one context, as its README says.
#include "driver.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <string.h>

enum { FEW = 50 };

static const struct timeval kPatience = {5, 0};

static redisContext* context;
static char own_host[64];
static int own_port;

int connect_to(const char* host, int port, char* text) {
  if (context != NULL) redisFree(context);
  snprintf(own_host, sizeof own_host, "%s", host);
  own_port = port;
  context = redisConnectWithTimeout(host, port, kPatience);
  if (context == NULL || context->err != 0) {
    snprintf(text, TEXT_MAX, "%s", context != NULL ? context->errstr : "no memory");
    return -1;
  }
  redisSetTimeout(context, kPatience);
  return 0;
}

static void keep(struct told* told, redisReply* reply) {
  memset(told, 0, sizeof *told);
  if (reply == NULL) {
    snprintf(told->text, TEXT_MAX, "%s", context->errstr);
    return;
  }
  told->type = reply->type;
  told->integer = reply->type == REDIS_REPLY_ARRAY ? (long long)reply->elements : reply->integer;
  if (reply->str != NULL) snprintf(told->text, TEXT_MAX, "%s", reply->str);
  freeReplyObject(reply);
}

// A context that has seen an error is of no more use but for redisReconnect.
void ask(struct told* told, int count, const char* const* words) {
  if (context->err != 0 && redisReconnect(context) != REDIS_OK) {
    keep(told, NULL);
    return;
  }
  keep(told, redisCommandArgv(context, count, (const char**)words, NULL));
}

static void next(struct told* told) {
  void* reply = NULL;
  redisGetReply(context, &reply);
  keep(told, reply);
}

// --- what else it can do; each leaves nothing behind ---

static enum answer pipeline(char* text) {
  struct told told;
  redisAppendCommand(context, "SET %s %d PX %d", "p", 1, 5000);
  redisAppendCommand(context, "INCRBY p %lld", 41LL);
  redisAppendCommand(context, "DEL p");
  next(&told);
  if (!is_status(&told, "OK")) return wrong(text, "SET", &told);
  next(&told);
  if (!is_integer(&told, 42)) return wrong(text, "INCRBY", &told);
  next(&told);
  return is_integer(&told, 1) ? YES : wrong(text, "DEL", &told);
}

static enum answer transaction(char* text) {
  struct told told;
  ASK(&told, "MULTI");
  ASK(&told, "SET", "t", "1", "PX", "5000");
  if (!is_status(&told, "QUEUED")) return wrong(text, "SET in MULTI", &told);
  ASK(&told, "DEL", "t");
  redisReply* reply = redisCommand(context, "EXEC");
  const int good = reply != NULL && reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 &&
                   reply->element[0]->type == REDIS_REPLY_STATUS && reply->element[1]->integer == 1;
  keep(&told, reply);
  return good ? YES : wrong(text, "EXEC", &told);
}

static enum answer watch(char* text) {
  struct told told;
  redisContext* other = redisConnectWithTimeout(own_host, own_port, kPatience);
  ASK(&told, "WATCH", "w");
  freeReplyObject(redisCommand(other, "SET w %s PX %d", "v", 5000));
  redisFree(other);
  ASK(&told, "MULTI");
  ASK(&told, "GET", "w");
  ASK(&told, "EXEC");
  if (told.type != REDIS_REPLY_NIL) return wrong(text, "EXEC after a change", &told);
  ASK(&told, "DEL", "w");
  return is_integer(&told, 1) ? YES : wrong(text, "DEL", &told);
}

// Any bytes, by %b: some libraries use 16 raw ones as a lock's value.
static enum answer binary(char* text) {
  static const char kValue[] = "\0\r\n\xff%s $-1";
  const size_t size = sizeof kValue - 1;
  struct told told;
  keep(&told, redisCommand(context, "SET b %b PX 5000", kValue, size));
  if (!is_status(&told, "OK")) return wrong(text, "SET %b", &told);
  redisReply* reply = redisCommand(context, "GET b");
  const int good = reply != NULL && reply->type == REDIS_REPLY_STRING && reply->len == size &&
                   memcmp(reply->str, kValue, size) == 0;
  keep(&told, reply);
  if (!good) return wrong(text, "GET of bytes", &told);
  ASK(&told, "DEL", "b");
  return is_integer(&told, 1) ? YES : wrong(text, "DEL", &told);
}

static enum answer pubsub(char* text) {
  struct told told;
  redisContext* listener = redisConnectWithTimeout(own_host, own_port, kPatience);
  redisSetTimeout(listener, kPatience);
  freeReplyObject(redisCommand(listener, "SUBSCRIBE news"));
  ASK(&told, "PUBLISH", "news", "hello");
  void* message = NULL;
  redisGetReply(listener, &message);
  redisReply* reply = message;
  const int good = reply != NULL && reply->type == REDIS_REPLY_ARRAY && reply->elements == 3 &&
                   strcmp(reply->element[2]->str, "hello") == 0;
  if (reply != NULL) freeReplyObject(reply);
  redisFree(listener);
  return good && is_integer(&told, 1) ? YES : wrong(text, "PUBLISH and its message", &told);
}

// As many as were found of "scan:*", or -1.
static int scanned(void) {
  char cursor[32] = "0";
  int found = 0;
  do {
    redisReply* reply = redisCommand(context, "SCAN %s MATCH scan:* COUNT 7", cursor);
    if (reply == NULL || reply->type != REDIS_REPLY_ARRAY) return -1;
    snprintf(cursor, sizeof cursor, "%s", reply->element[0]->str);
    found += (int)reply->element[1]->elements;
    freeReplyObject(reply);
  } while (strcmp(cursor, "0") != 0);
  return found;
}

static enum answer scan(char* text) {
  struct told told = {0};
  for (int i = 0; i < FEW; ++i) redisAppendCommand(context, "SET scan:%d v PX 5000", i);
  for (int i = 0; i < FEW; ++i) next(&told);
  const int found = scanned();
  for (int i = 0; i < FEW; ++i) redisAppendCommand(context, "DEL scan:%d", i);
  for (int i = 0; i < FEW; ++i) next(&told);
  told.integer = found;
  return found == FEW ? YES : wrong(text, "SCAN", &told);
}

static enum answer reconnect(char* text) {
  struct told told;
  ASK(&told, "SET", "r", "v", "PX", "5000");
  if (redisReconnect(context) != REDIS_OK) return wrong(text, "redisReconnect", &told);
  ASK(&told, "DEL", "r");
  return is_integer(&told, 1) ? YES : wrong(text, "DEL", &told);
}

static const struct feature kFeatures[] = {{"pipeline", pipeline},   {"transaction", transaction},
                                           {"watch", watch},         {"binary", binary},
                                           {"pubsub", pubsub},       {"scan", scan},
                                           {"reconnect", reconnect}, {NULL, NULL}};

int main(void) {
  return serve(kFeatures);
}

// hiredis, its asynchronous side, over libuv by its own adapter.
#include "driver.h"

#include <hiredis/adapters/libuv.h>
#include <hiredis/async.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <string.h>

#include <uv.h>

enum { PIPELINED = 1000, PATIENCE_MS = 3000 };

static uv_loop_t loop;
static uv_timer_t patience;
static redisAsyncContext* context;  // NULL when it is not connected: hiredis frees it then
static char own_host[64];
static int own_port;
static char last_error[TEXT_MAX];
static int connected;  // -1: it failed

static void on_connect(const redisAsyncContext* of, int status) {
  connected = status == REDIS_OK ? 1 : -1;
  if (status == REDIS_OK) return;
  snprintf(last_error, sizeof last_error, "%s", of->errstr);
  context = NULL;
}

static void on_disconnect(const redisAsyncContext* of, int status) {
  if (status != REDIS_OK) snprintf(last_error, sizeof last_error, "%s", of->errstr);
  if (of == context) context = NULL;
}

static void on_patience_end(uv_timer_t* timer) {
  *(int*)timer->data = 1;
}

// Runs the loop until it is so, or for as long as its user waits: the adapter passes on no error
// of a poll, so a connection that is refused is never told.
static void run_until(const int* done) {
  int over = 0;
  patience.data = &over;
  uv_timer_start(&patience, on_patience_end, PATIENCE_MS, 0);
  while (!*done && !over) uv_run(&loop, UV_RUN_ONCE);
  uv_timer_stop(&patience);
  if (!*done) snprintf(last_error, sizeof last_error, "nothing came within %d ms", PATIENCE_MS);
}

// Its callbacks come now, with no reply.
static void forget_connection(void) {
  redisAsyncContext* forgotten = context;
  context = NULL;
  redisAsyncFree(forgotten);
}

static redisAsyncContext* connect_one(void) {
  redisAsyncContext* made = redisAsyncConnect(own_host, own_port);
  if (made == NULL || made->err != 0) {
    snprintf(last_error, sizeof last_error, "%s", made != NULL ? made->errstr : "no memory");
    if (made != NULL) redisAsyncFree(made);
    return NULL;
  }
  redisLibuvAttach(made, &loop);
  redisAsyncSetConnectCallback(made, on_connect);
  redisAsyncSetDisconnectCallback(made, on_disconnect);
  return made;
}

static int connect_again(void) {
  connected = 0;
  context = connect_one();
  if (context == NULL) return -1;
  run_until(&connected);
  if (connected == 0) forget_connection();
  return connected == 1 ? 0 : -1;
}

int connect_to(const char* host, int port, char* text) {
  if (own_port == 0) {
    uv_loop_init(&loop);
    uv_timer_init(&loop, &patience);
  }
  snprintf(own_host, sizeof own_host, "%s", host);
  own_port = port;
  const int status = connect_again();
  if (status != 0) snprintf(text, TEXT_MAX, "%s", last_error);
  return status;
}

// --- one command, and its reply by a callback ---

struct asked {
  struct told* told;
  int done;
};

static void on_reply(redisAsyncContext* of, void* data, void* private_data) {
  (void)of;
  redisReply* reply = data;
  struct asked* asked = private_data;
  asked->done = 1;
  if (reply == NULL) return;
  asked->told->type = reply->type;
  asked->told->integer =
      reply->type == REDIS_REPLY_ARRAY ? (long long)reply->elements : reply->integer;
  if (reply->str != NULL) snprintf(asked->told->text, TEXT_MAX, "%s", reply->str);
}

void ask(struct told* told, int count, const char* const* words) {
  memset(told, 0, sizeof *told);
  struct asked asked = {told, 0};
  uv_run(&loop, UV_RUN_NOWAIT);  // what became of the connection meanwhile
  if (context == NULL && connect_again() != 0) {
    snprintf(told->text, TEXT_MAX, "%s", last_error);
    return;
  }
  redisAsyncCommandArgv(context, on_reply, &asked, count, (const char**)words, NULL);
  run_until(&asked.done);
  if (!asked.done) forget_connection();  // or its callback would come when `asked` is no more
  if (told->type == 0) snprintf(told->text, TEXT_MAX, "%s", last_error);
}

// --- what else it can do; each leaves nothing behind ---

static int replies_to_come;
static int replies_wrong;
static int all_came;

static void on_counted(redisAsyncContext* of, void* data, void* private_data) {
  (void)of;
  const redisReply* reply = data;
  const long long wanted = *(const long long*)private_data;
  if (reply == NULL || reply->type != REDIS_REPLY_INTEGER || reply->integer != wanted) {
    ++replies_wrong;
  }
  if (--replies_to_come == 0) all_came = 1;
}

// Commands go out without waiting, and each reply finds its own callback.
static enum answer pipeline(char* text) {
  static long long wanted[PIPELINED];
  struct told told;
  ASK(&told, "SET", "p", "0", "PX", "5000");
  replies_to_come = PIPELINED;
  replies_wrong = all_came = 0;
  for (int i = 0; i < PIPELINED; ++i) {
    wanted[i] = i + 1;
    redisAsyncCommand(context, on_counted, &wanted[i], "INCR p");
  }
  run_until(&all_came);
  ASK(&told, "DEL", "p");
  const int good = all_came && replies_wrong == 0 && is_integer(&told, 1);
  told.integer = replies_wrong;
  return good ? YES : wrong(text, "INCR", &told);
}

static int subscribed;
static int heard;
static int unsubscribed;

static void on_message(redisAsyncContext* of, void* data, void* private_data) {
  (void)private_data;
  const redisReply* reply = data;
  if (reply == NULL || reply->type != REDIS_REPLY_ARRAY || reply->elements < 3) return;
  const char* kind = reply->element[0]->str;
  if (strcmp(kind, "subscribe") == 0) subscribed = 1;
  if (strcmp(kind, "unsubscribe") == 0) {
    unsubscribed = 1;
    redisAsyncDisconnect(of);
  }
  if (strcmp(kind, "message") == 0) heard = strcmp(reply->element[2]->str, "hello") == 0;
}

static enum answer pubsub(char* text) {
  struct told told;
  redisAsyncContext* listener = connect_one();
  if (listener == NULL) return wrong(text, last_error, &told);
  subscribed = heard = unsubscribed = 0;
  redisAsyncCommand(listener, on_message, NULL, "SUBSCRIBE news");
  run_until(&subscribed);
  ASK(&told, "PUBLISH", "news", "hello");
  run_until(&heard);
  redisAsyncCommand(listener, on_message, NULL, "UNSUBSCRIBE news");
  run_until(&unsubscribed);
  const int good = is_integer(&told, 1) && heard && unsubscribed;
  return good ? YES : wrong(text, "PUBLISH and its message", &told);
}

static int shown;

static void on_shown(redisAsyncContext* of, void* data, void* private_data) {
  (void)of;
  (void)private_data;
  const redisReply* reply = data;
  if (reply != NULL && reply->str != NULL && strstr(reply->str, "\"monitored\"") != NULL) shown = 1;
}

static enum answer monitor(char* text) {
  struct told told = {0};
  redisAsyncContext* watcher = connect_one();
  if (watcher == NULL) return wrong(text, last_error, &told);
  shown = 0;
  redisAsyncCommand(watcher, on_shown, NULL, "MONITOR");
  for (int tries = 0; tries < 100 && !shown; ++tries) {
    ASK(&told, "GET", "monitored");
    uv_run(&loop, UV_RUN_NOWAIT);
  }
  redisAsyncFree(watcher);
  return shown ? YES : wrong(text, "MONITOR", &told);
}

static enum answer transaction(char* text) {
  struct told told;
  ASK(&told, "MULTI");
  ASK(&told, "SET", "t", "1", "PX", "5000");
  if (!is_status(&told, "QUEUED")) return wrong(text, "SET in MULTI", &told);
  ASK(&told, "DEL", "t");
  ASK(&told, "EXEC");
  const int good = told.type == REDIS_REPLY_ARRAY && told.integer == 2;
  return good ? YES : wrong(text, "EXEC", &told);
}

// QUIT by hiredis's own way: what was sent is answered first, then the connection ends.
static enum answer disconnect(char* text) {
  struct told told;
  ASK(&told, "SET", "d", "v", "PX", "5000");
  redisAsyncDisconnect(context);
  context = NULL;
  ASK(&told, "DEL", "d");
  return is_integer(&told, 1) ? YES : wrong(text, "DEL", &told);
}

static const struct feature kFeatures[] = {{"pipeline", pipeline},     {"transaction", transaction},
                                           {"pubsub", pubsub},         {"monitor", monitor},
                                           {"disconnect", disconnect}, {NULL, NULL}};

int main(void) {
  return serve(kFeatures);
}

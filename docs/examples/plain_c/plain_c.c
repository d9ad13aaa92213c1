// plain_c: a worker in C. It keeps a lock while it works, and stops as soon as the lock is lost.
//
// The nodes are those of REDLOCK_NODES. Exit status: 0 the work is done; 75 another works; 1 else.
// With the package installed CMakeLists.txt builds it, or
//
// cc -std=c99 plain_c.c -o plain_c $(pkg-config --cflags --libs redlock)
#include <redlock/redlock.h>

#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 100 };

static void on_loss(void* context, const redlock_error* why) {
  fprintf(stderr, "%s: %s\n", (const char*)context, why->text);
}

// One step takes far less than the notice of the lock, a second: so if the lock is valid before the
// step, it is still this worker's when the step ends.
static int work(const redlock_lock* lock) {
  for (int step = 0; step < STEPS; ++step) {
    if (!redlock_valid(lock)) return 1;
  }
  return 0;
}

static int work_under_lock(redlock_client* client) {
  redlock_error error;
  redlock_lock* lock = NULL;
  const redlock_acquire_options wanted = {.ttl_ms = 10000};
  const redlock_keep_options keep = {.notice_ms = 1000, .on_loss = on_loss, .context = "plain_c"};
  int status = 1;
  if (redlock_acquire(client, "example:plain_c", &wanted, &lock, &error) != REDLOCK_OK) {
    fprintf(stderr, "%s\n", error.text);
    return error.code == REDLOCK_HELD ? 75 : 1;
  }
  if (redlock_keep(lock, &keep, &error) == REDLOCK_OK) status = work(lock);
  // A release that a quorum confirms says that the lock was this worker's to the end.
  if (redlock_release(lock, &error) != REDLOCK_OK) {
    fprintf(stderr, "%s\n", error.text);
    status = 1;
  }
  redlock_free(lock);
  return status;
}

int main(void) {
  const char* nodes = getenv("REDLOCK_NODES");
  redlock_error error;
  redlock_client* client = NULL;
  int status = 0;
  if (redlock_open(nodes, NULL, &client, &error) != REDLOCK_OK) {
    fprintf(stderr, "plain_c: %s\n", error.text);
    return 1;
  }
  status = work_under_lock(client);
  redlock_close(client);
  return status;
}

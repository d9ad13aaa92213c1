// redlock.h: the client for C (C99), and for every language that can call C.
//
//   redlock_error error;
//   redlock_client* client = NULL;
//   redlock_lock* lock = NULL;
//   if (redlock_open("redis://node1,redis://node2,redis://node3", NULL, &client, &error)) …
//   if (redlock_acquire(client, "printer", NULL, &lock, &error)) fputs(error.text, stderr);
//   if (redlock_valid(lock)) print();
//   redlock_release(lock, NULL);
//   redlock_free(lock);
//   redlock_close(client);
//
// It is the client of client.h, which says what a lock is worth: held by whoever has it on more
// than half of the nodes, and only for its validity. Link libredlock (pkg-config redlock), or the
// archive that C++ programs link.
//
// Shapes. Texts end with a zero byte, so a name or a value with one inside cannot be said here.
// Durations are whole milliseconds in 64 bits. A member that is 0 in a struct of options has the
// default that stands beside it; NULL for the whole struct means all defaults.
//
// Errors. What can fail returns a redlock_code, 0 for success, and says more in *error unless that
// is NULL. What it gives (*client, *lock, *nodes) is NULL after a failure. A NULL that must not be
// is REDLOCK_INVALID; functions that return no code take NULL for nothing. No exception leaves a
// function, and none ends the process.
//
// Threads. A client has a thread of its own. Its functions may be called from any thread at any
// time. A lock's may be called by one thread at a time, but for redlock_valid,
// redlock_validity_left_ms, redlock_name, redlock_value and redlock_token: those by any. Functions
// that ask the nodes block until a quorum has decided, at most for the node timeout and the wait
// asked for; the comments name those that do not block.
//
// fork(): in a child the parent's locks are not valid, calls fail with REDLOCK_STOPPED, and
// redlock_free and redlock_close touch nothing of the parent's. A child may open its own client.
#pragma once

#include <redlock/visibility.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum redlock_code {
  REDLOCK_OK = 0,
  REDLOCK_HELD = 1,           // another holds the lock
  REDLOCK_NOT_HELD = 2,       // the lock is not, or not any more, this holder's
  REDLOCK_NO_QUORUM = 3,      // too few nodes voted to know
  REDLOCK_DENIED = 4,         // a quorum cannot vote as passwords are wrong or missing
  REDLOCK_TOO_LATE = 5,       // a quorum granted it, but too slowly for this TTL
  REDLOCK_UNFENCED = 6,       // a quorum granted it, but too few nodes give fencing tokens
  REDLOCK_NOT_ADMITTED = 7,   // some nodes stay unfenced
  REDLOCK_LOST = 8,           // a lock that is kept: it could not be kept any longer
  REDLOCK_INVALID = 9,        // an argument is out of its bounds, here or at the nodes
  REDLOCK_WRONG_THREAD = 10,  // a blocking call in a callback: it would wait for itself
  REDLOCK_STOPPED = 11,       // the client was closed, or is another process's
  REDLOCK_OVERLOADED = 12,    // more at once than a client takes, or than its nodes answer
  REDLOCK_SYSTEM = 13,        // the system gives no thread or no descriptor
  REDLOCK_NO_MEMORY = 14,     // nor memory
  REDLOCK_OTHER_GROUP = 15    // the nodes named are not those of the group that one belongs to
} redlock_code;

// "held", "no quorum" … For ever valid; "unknown" for what is no code.
REDLOCK_PUBLIC const char* redlock_code_name(redlock_code code);

enum { REDLOCK_TEXT_BYTES = 2048 };

typedef struct redlock_error {
  redlock_code code;
  // A sentence for people, and below it a line for each node that was asked, as far as there is
  // room. Empty after a success.
  char text[REDLOCK_TEXT_BYTES];
} redlock_error;

// --- the client

typedef struct redlock_client redlock_client;

typedef struct redlock_client_options {
  int64_t node_timeout_ms;  // after it a node counts as not answering; 0: 500
  double clock_drift;       // by how much the rates of any two clocks may differ; 0: 0.01, 1 %
  bool leaves_unfenced;     // does not admit nodes that lost their ledger (redlock admit does)
  bool unsafe_members;      // asks nodes for votes, too, whose settings are not safe
  // Of nodes that are named by rediss://. Files in PEM form, or NULL: who signs their certificates
  // (a folder, too; NULL: whom the system trusts), and what is shown to those that ask for one.
  const char* tls_ca;
  const char* tls_cert;
  const char* tls_key;
} redlock_client_options;

// `nodes`: 1 to 64, separated by commas: "redis://[user:password@]host[:port]", with rediss:// for
// TLS, "unix:///path".
// Begins to connect; does not block. Errors: invalid, system, no memory.
REDLOCK_PUBLIC redlock_code redlock_open(const char* nodes, const redlock_client_options* options,
                                         redlock_client** client, redlock_error* error);

// Releases the locks that are kept, and ends whatever waits in another thread with REDLOCK_STOPPED.
// Blocks until undos and releases were answered, at most for the node timeout; in a callback it
// does not block. No other call may begin with this client; its locks may still be asked and freed.
REDLOCK_PUBLIC void redlock_close(redlock_client* client);

// --- a lock

// One that was acquired here, or of which name and value were told by another process. Ends with
// redlock_free, before or after its client.
typedef struct redlock_lock redlock_lock;

#define REDLOCK_FOREVER INT64_C(-1)

typedef struct redlock_acquire_options {
  int64_t ttl_ms;      // how long the nodes hold it at most: 10 and more; 0: 30,000
  int64_t wait_ms;     // how long to try while another holds it; 0: once; REDLOCK_FOREVER
  bool without_token;  // asks for no fencing token: for plain Redis servers, which give none
} redlock_acquire_options;

// REDLOCK_FOREVER ends after 10 s without a quorum. Errors: held, no quorum, denied, too late,
// unfenced, invalid, overloaded, wrong thread, stopped, no memory. After a failure the nodes that
// may have granted it are told to forget it, in the background.
REDLOCK_PUBLIC redlock_code redlock_acquire(redlock_client* client, const char* name,
                                            const redlock_acquire_options* options,
                                            redlock_lock** lock, redlock_error* error);

// A lock that another process acquired, by its name and value. It is not valid here until it was
// extended or is kept. ttl_ms: of its extensions; 0: 30,000. Asks nobody; does not block. Errors:
// invalid, no memory.
REDLOCK_PUBLIC redlock_code redlock_of(redlock_client* client, const char* name, const char* value,
                                       int64_t ttl_ms, redlock_lock** lock, redlock_error* error);

// Valid until redlock_free; "" for NULL. The value is the holder's secret: whoever knows it can
// extend and release the lock. Do not block.
REDLOCK_PUBLIC const char* redlock_name(const redlock_lock* lock);
REDLOCK_PUBLIC const char* redlock_value(const redlock_lock* lock);

// To be shown with each write that the lock protects: whoever stores it refuses one with a smaller
// token than the largest it saw. 0: none, or not known. Does not block.
REDLOCK_PUBLIC uint64_t redlock_token(const redlock_lock* lock);

// Whether it may be relied on at this moment; of a lock that is kept: for its notice more. False
// for NULL, and after release, abandon and loss for good. Does not block.
REDLOCK_PUBLIC bool redlock_valid(const redlock_lock* lock);

// Until redlock_valid will be false if no extension succeeds, rounded down; 0: it is, or will be
// within a millisecond. Does not block.
REDLOCK_PUBLIC int64_t redlock_validity_left_ms(const redlock_lock* lock);

// Gives it its full TTL from now on. A failure leaves it as it was. Errors: not held (also of a
// lock that was released or abandoned), no quorum, denied, invalid (also of one that is kept),
// wrong thread, stopped, no memory.
REDLOCK_PUBLIC redlock_code redlock_extend(redlock_lock* lock, redlock_error* error);

typedef struct redlock_keep_options {
  int64_t ttl_ms;     // 0: the lock's
  int64_t notice_ms;  // see redlock_keep; 0: a tenth of the TTL, at most 5 s
  // Called once when the lock is lost, on the client's thread. Must not block: blocking calls with
  // the same client fail in it. redlock_free and redlock_close may be called there, once
  // redlock_keep has returned. `why`: code REDLOCK_LOST; valid during the call. Not called after a
  // release, an abandon or a close; but one that has begun may still run in its thread. NULL:
  // nobody is told.
  void (*on_loss)(void* context, const redlock_error* why);
  // For on_loss. Must be there until the lock was released or the client was closed.
  void* context;
} redlock_keep_options;

// Extends it at once, and at each third of its TTL from then on, in the background. Where that
// fails it counts as lost `notice_ms` before its validity ends: so whoever asks redlock_valid
// before each step, and needs at most so long for one, never works under a lock that another may
// have. Errors: as redlock_extend.
REDLOCK_PUBLIC redlock_code redlock_keep(redlock_lock* lock, const redlock_keep_options* options,
                                         redlock_error* error);

// Confirmed by a quorum. After not held, as after a success, it holds nothing more. After wrong
// thread nothing was done. After other errors it is not kept and not valid any more, and may be
// released again; it also runs out by itself. Errors: not held, no quorum, denied, wrong thread,
// stopped, no memory.
REDLOCK_PUBLIC redlock_code redlock_release(redlock_lock* lock, redlock_error* error);

// Neither extends it any more nor releases it: it runs out by itself, unless another process that
// knows its value does so. Holds nothing more. Does not block.
REDLOCK_PUBLIC void redlock_abandon(redlock_lock* lock);

// Ends the handle. A lock that is kept is released in the background; any other is left to run out:
// redlock_release says whether it worked. Does not block.
REDLOCK_PUBLIC void redlock_free(redlock_lock* lock);

// --- the nodes

// What a node says of itself. Texts are "" and numbers -1 where it does not tell.
typedef struct redlock_node {
  const char* address;    // never with the password
  const char* state;      // "serving", "recovering"; else why it did not answer
  const char* cause;      // what its start found, and why it waits or does not
  const char* version;    // of its program
  bool answered;          // else only address and state tell
  bool grants;            // it would grant a lock now
  bool unfenced;          // it lost its ledger, and has no part in fencing tokens yet
  int64_t delay_left_ms;  // of its restart delay, rounded up
  int64_t locks;          // that it holds
} redlock_node;

typedef struct redlock_nodes {
  size_t count;
  const redlock_node* nodes;  // in the order of redlock_open
} redlock_nodes;

// Waits for all nodes, at most for the node timeout. Ends with redlock_nodes_free. Errors: invalid,
// wrong thread, stopped, no memory.
REDLOCK_PUBLIC redlock_code redlock_status(redlock_client* client, redlock_nodes** nodes,
                                           redlock_error* error);
REDLOCK_PUBLIC void redlock_nodes_free(redlock_nodes* nodes);

#ifdef __cplusplus
}
#endif

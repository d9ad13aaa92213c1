"""Locks over a group of lock nodes, through libredlock: the functions of <redlock/redlock.h>.

    import redlock

    with redlock.Client("redis://node1,redis://node2,redis://node3") as client:
        with client.acquire("printer", ttl=10, wait=5) as lock:
            lock.keep()
            while work_left() and lock.valid():
                do_some_work(lock.token)

Times are seconds. What fails raises redlock.Error, of which `code` is one of those below. A call
that waits lets other threads of Python run, but no signal handler: so a wait for ever is ended by
Client.close in another thread.

A sketch to start from: copy it, and change it. REDLOCK_LIBRARY names another file than the
installed library.
"""

import ctypes
import itertools
import os
from ctypes import POINTER, byref, c_bool, c_char, c_char_p, c_double, c_int, c_int64, c_void_p

(OK, HELD, NOT_HELD, NO_QUORUM, DENIED, TOO_LATE, UNFENCED, NOT_ADMITTED, LOST, INVALID,
 WRONG_THREAD, STOPPED, OVERLOADED, SYSTEM, NO_MEMORY) = range(15)

FOREVER = float("inf")


class _Error(ctypes.Structure):
    _fields_ = [("code", c_int), ("text", c_char * 2048)]


class _ClientOptions(ctypes.Structure):
    _fields_ = [("node_timeout_ms", c_int64), ("clock_drift", c_double),
                ("leaves_unfenced", c_bool), ("unsafe_members", c_bool),
                ("tls_ca", c_char_p), ("tls_cert", c_char_p), ("tls_key", c_char_p)]


class _AcquireOptions(ctypes.Structure):
    _fields_ = [("ttl_ms", c_int64), ("wait_ms", c_int64), ("without_token", c_bool)]


_OnLoss = ctypes.CFUNCTYPE(None, c_void_p, POINTER(_Error))


class _KeepOptions(ctypes.Structure):
    _fields_ = [("ttl_ms", c_int64), ("notice_ms", c_int64), ("on_loss", _OnLoss),
                ("context", c_void_p)]


class _Node(ctypes.Structure):
    _fields_ = [("address", c_char_p), ("state", c_char_p), ("cause", c_char_p),
                ("version", c_char_p), ("answered", c_bool), ("grants", c_bool),
                ("unfenced", c_bool), ("delay_left_ms", c_int64), ("locks", c_int64)]


class _Nodes(ctypes.Structure):
    _fields_ = [("count", ctypes.c_size_t), ("nodes", POINTER(_Node))]


_library = ctypes.CDLL(os.environ.get("REDLOCK_LIBRARY", "libredlock.so.0.1"))


def _function(name, result, *arguments):
    function = getattr(_library, "redlock_" + name)
    function.restype, function.argtypes = result, arguments
    return function


_open = _function("open", c_int, c_char_p, POINTER(_ClientOptions), POINTER(c_void_p),
                  POINTER(_Error))
_close = _function("close", None, c_void_p)
_acquire = _function("acquire", c_int, c_void_p, c_char_p, POINTER(_AcquireOptions),
                     POINTER(c_void_p), POINTER(_Error))
_of = _function("of", c_int, c_void_p, c_char_p, c_char_p, c_int64, POINTER(c_void_p),
                POINTER(_Error))
_name = _function("name", c_char_p, c_void_p)
_value = _function("value", c_char_p, c_void_p)
_token = _function("token", ctypes.c_uint64, c_void_p)
_valid = _function("valid", c_bool, c_void_p)
_validity_left = _function("validity_left_ms", c_int64, c_void_p)
_extend = _function("extend", c_int, c_void_p, POINTER(_Error))
_keep = _function("keep", c_int, c_void_p, POINTER(_KeepOptions), POINTER(_Error))
_release = _function("release", c_int, c_void_p, POINTER(_Error))
_abandon = _function("abandon", None, c_void_p)
_free = _function("free", None, c_void_p)
_status = _function("status", c_int, c_void_p, POINTER(POINTER(_Nodes)), POINTER(_Error))
_nodes_free = _function("nodes_free", None, POINTER(_Nodes))
_code_name = _function("code_name", c_char_p, c_int)


# Who is told of a loss, by the number that the library gets in place of an address: so that it can
# hold on to it for longer than Python to what is told.
_told_of_loss = {}
_numbers = itertools.count(1)


@_OnLoss
def _tell_of_loss(number, why):
    told = _told_of_loss.pop(number, None)
    if told is not None:
        told(why.contents.text.decode(errors="replace"))


class Error(Exception):
    """`code` to decide by; the text is a sentence, and a line for each node that was asked."""

    def __init__(self, error):
        super().__init__(error.text.decode(errors="replace"))
        self.code = error.code
        self.name = _code_name(error.code).decode()


def _call(function, *arguments):
    error = _Error()
    if function(*arguments, byref(error)) != OK:
        raise Error(error)


def _milliseconds(seconds):
    return -1 if seconds == FOREVER else round(seconds * 1000)


class Client:
    """Has a thread of its own. Any thread may use it."""

    def __init__(self, nodes, node_timeout=0.5, clock_drift=0.01,
                 tls_ca=None, tls_cert=None, tls_key=None):
        """nodes: addresses separated by commas, as in the variable REDLOCK_NODES; tls_…: paths, for
        those named by rediss://."""
        self._handle = c_void_p()
        paths = [os.fsencode(path) if path else None for path in (tls_ca, tls_cert, tls_key)]
        options = _ClientOptions(_milliseconds(node_timeout), clock_drift, False, False, *paths)
        _call(_open, nodes.encode(), options, byref(self._handle))

    def close(self):
        """Releases locks that are kept, ends what waits in other threads; harmless twice."""
        handle, self._handle = self._handle, None
        _close(handle)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def acquire(self, name, ttl=30, wait=0, token=True):
        """wait: seconds, or FOREVER. token: False for plain Redis servers, which give none."""
        handle = c_void_p()
        options = _AcquireOptions(_milliseconds(ttl), _milliseconds(wait), not token)
        _call(_acquire, self._handle, name.encode(), options, byref(handle))
        return Lock(handle)

    def lock_of(self, name, value, ttl=30):
        """One that another process acquired, by its name and value."""
        handle = c_void_p()
        _call(_of, self._handle, name.encode(), value.encode(), _milliseconds(ttl), byref(handle))
        return Lock(handle)

    def status(self):
        """What each node says of itself, a dictionary each; None where it does not tell."""
        found = POINTER(_Nodes)()
        _call(_status, self._handle, byref(found))
        try:
            rows = [found.contents.nodes[i] for i in range(found.contents.count)]
            return [{field: _plain(getattr(row, field)) for field, _ in _Node._fields_}
                    for row in rows]
        finally:
            _nodes_free(found)


def _plain(value):
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return None if value == -1 else value


class Lock:
    """Of Client.acquire. One thread at a time may use it; any may ask valid() and validity_left().

    As a context it is released at the end of the block, where a release that fails raises Error.
    """

    def __init__(self, handle):
        self._handle = handle
        self._number = None

    def __del__(self):
        _told_of_loss.pop(self._number, None)
        _free(self._handle)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            self.release()
        except Error:
            if kind is None:  # an exception on its way says more
                raise

    @property
    def name(self):
        return _name(self._handle).decode()

    @property
    def value(self):
        return _value(self._handle).decode()

    @property
    def token(self):
        return _token(self._handle)

    def valid(self):
        return _valid(self._handle)

    def validity_left(self):
        return _validity_left(self._handle) / 1000

    def extend(self):
        _call(_extend, self._handle)

    def keep(self, on_loss=None, ttl=0, notice=0):
        """Extends it in the background. on_loss(text) is called on the library's thread."""
        self._number = next(_numbers)
        if on_loss is not None:
            _told_of_loss[self._number] = on_loss
        options = _KeepOptions(_milliseconds(ttl), _milliseconds(notice), _tell_of_loss,
                               self._number)
        _call(_keep, self._handle, options)

    def release(self):
        _call(_release, self._handle)

    def abandon(self):
        _abandon(self._handle)

"""Runs a block of code in an interpreter that is restored afterwards. Part of the snapshot of the interpreter."""

import asyncio
import contextlib
import importlib
import importlib.metadata
import io
import json
import linecache
import os
import runpy
import selectors
import sys
import time
import types

# Imported in advance, because an import from the archive is slow.
for _name in (
    "argparse array ast base64 bisect calendar cmath collections collections.abc colorsys concurrent.futures configparser "
    "contextlib copy csv dataclasses datetime decimal difflib doctest email.message enum fractions functools getpass glob "
    "graphlib gzip hashlib heapq hmac html html.parser http.client http.server inspect itertools locale logging lzma math "
    "multiprocessing numbers operator pathlib pickle platform pprint queue random re sched secrets select shlex shutil "
    "signal smtplib socket sqlite3 ssl statistics string struct subprocess tempfile textwrap threading timeit tomllib "
    "types typing unicodedata unittest unittest.mock urllib.error urllib.parse urllib.request uuid warnings weakref "
    "xml.dom.minidom xml.etree.ElementTree zipfile zlib zoneinfo"
).split():
    with contextlib.suppress(ImportError):
        importlib.import_module(_name)

_WORKSPACE = "/workspace"
_exit = os._exit
# The names of installed packages.
_packages = []
_HIDDEN = ("js", "pyodide", "pyodide_js", "_pyodide", "_pyodide_core", "pyodide_jsnull")


class _NoFiles(selectors._BaseSelectorImpl):
    """Waits for time only: there is nothing else to wait for."""

    def select(self, timeout=None):
        if timeout is None:
            raise RuntimeError("the event loop waits for something that cannot happen here")
        if timeout > 0:
            time.sleep(timeout)
        return []


class _EventLoop(asyncio.SelectorEventLoop):
    """An event loop without threads and sockets."""

    def __init__(self):
        super().__init__(_NoFiles())

    def _make_self_pipe(self):
        self._ssock = self._csock = None

    def _close_self_pipe(self):
        pass

    def _write_to_self(self):
        pass

    def run_in_executor(self, executor, function, *args):
        # There are no threads: the work is done at once.
        done = self.create_future()
        try:
            done.set_result(function(*args))
        except Exception as error:
            done.set_exception(error)
        return done


class _Policy(asyncio.events._BaseDefaultEventLoopPolicy):
    _loop_factory = _EventLoop


def close():
    """Removes Pyodide's modules, so that Python is as elsewhere. Called once, before the first block."""
    for name in list(sys.modules):
        if name.partition(".")[0] in _HIDDEN:
            del sys.modules[name]
    sys.meta_path[:] = [finder for finder in sys.meta_path if "pyodide" not in type(finder).__module__]
    _packages[:] = sorted({found.name for found in importlib.metadata.distributions()})
    # Their functions cannot be called: an ImportError is clearer.
    for name in (*_HIDDEN, "_ctypes"):
        sys.modules[name] = None
    sys.path[:] = [path for path in sys.path if path.startswith("/lib/")]
    sys.excepthook = sys.__excepthook__
    sys.breakpointhook = sys.__breakpointhook__
    time.sleep = time.sleep.__wrapped__
    asyncio.run = asyncio.runners.run
    asyncio.SelectorEventLoop = asyncio.EventLoop = _EventLoop
    asyncio.events._set_event_loop_policy(_Policy())
    asyncio.events._set_running_loop(None)


def run(text):
    request = json.loads(text)
    code = 1
    try:
        code = _run(**request)
    finally:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except BaseException:
                code = code or 120
        _exit(code & 0xFF)


def _run(mode, source, argv, cwd, path, environment):
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(cwd)
    sys.argv[:] = argv
    sys.path.insert(0, path)
    sys.stdin = open(0, "r", encoding="utf-8", errors="surrogateescape", closefd=False)
    sys.stdout = _writer(1, "strict")
    sys.stderr = _writer(2, "backslashreplace")
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    sys.modules["random"].seed()
    try:
        if mode == "module":
            runpy.run_module(source, run_name="__main__", alter_sys=True)
        else:
            _main(source, argv[0] if mode == "file" else None)
        code = 0
    except SystemExit as error:
        code = _status(error.code)
    except BaseException as error:
        _print(error)
        code = 130 if isinstance(error, KeyboardInterrupt) else 1
    try:
        importlib.import_module("atexit")._run_exitfuncs()
    except BaseException:
        pass
    return code


def _main(source, file):
    if file is None:
        name, text = "/workspace/main.py", source
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    else:
        name = os.path.abspath(file)
        try:
            with open(name, "rb") as opened:
                text = opened.read()
        except OSError as error:
            print(f"python3: can't open file {name!r}: {error.strerror}", file=sys.stderr)
            raise SystemExit(2) from None
    module = types.ModuleType("__main__")
    module.__dict__.update(__file__=name, __builtins__=__builtins__)
    sys.modules["__main__"] = module
    exec(compile(text, name, "exec", dont_inherit=True), module.__dict__)


def _writer(fd, errors):
    # Unbuffered, so that output is complete and in order whatever happens next.
    raw = io.FileIO(fd, "w", closefd=False)
    return io.TextIOWrapper(raw, encoding="utf-8", errors=errors, newline="\n", write_through=True)


def _status(code):
    if code is None:
        return 0
    if isinstance(code, int):
        return code
    print(code, file=sys.stderr)
    return 1


def _print(error):
    tb = error.__traceback__
    while tb is not None and tb.tb_frame.f_code.co_filename in (__file__, "<frozen runpy>"):
        tb = tb.tb_next
    sys.excepthook(type(error), error.with_traceback(tb), tb)
    if isinstance(error, ModuleNotFoundError) and _packages:
        names = ", ".join(_packages)
        print(f"There are the standard library and {names}; nothing can be installed.", file=sys.stderr)

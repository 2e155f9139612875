/** What attacks are given to find; none of it may be seen or reached. */
export interface Canaries {
  /** A file of the host with a secret in it. */
  file: string;
  /** A directory of the host that this process could write to. */
  directory: string;
  /** A server on this machine that counts its visitors. */
  port: number;
  /** This process. */
  pid: number;
}

export interface Attack {
  name: string;
  language: "python" | "sh";
  code: (canaries: Canaries) => string;
  /** What must be seen of it. */
  output?: RegExp;
  /** Another block of the same session, a moment later, and what must be seen of that. */
  after?: { code: string; output: RegExp };
  /** What it must end with; left out, anything will do. */
  exitCode?: number;
  endedBy?: "timeout" | "memory" | "crashed";
}

const python = (
  name: string,
  code: string | Attack["code"],
  seen: Omit<Attack, "name" | "language" | "code">,
): Attack => ({
  name,
  language: "python",
  code: typeof code === "string" ? () => code : code,
  ...seen,
});

const shell = (
  name: string,
  code: string | Attack["code"],
  seen: Omit<Attack, "name" | "language" | "code">,
): Attack => ({ ...python(name, code, seen), language: "sh" });

/** Ended at the gate between WebAssembly and JavaScript. */
const STOPPED = { endedBy: "crashed", exitCode: 1, output: /reached out of the sandbox/ } as const;

/** Brings back the modules that were hidden. */
const UNHIDE = `
import sys
for name in [name for name, module in sys.modules.items() if module is None]: del sys.modules[name]
`;

/** What an untouched interpreter prints. */
const UNTOUCHED = {
  code: `import builtins, json, os, sys
print(sorted(os.listdir("/tmp")), json.dumps([1]), sys.stdout is sys.__stdout__, hasattr(sys, "left"), len("abc"))`,
  output: /^\[\] \[1\] True False 3\n$/,
};

export const ATTACKS: readonly Attack[] = [
  // Files of the host.
  python("reads a file of the host", ({ file }) => `print(open(${JSON.stringify(file)}).read())`, {
    exitCode: 1,
    output: /FileNotFoundError/,
  }),
  python(
    "climbs out of the workspace",
    ({ file }) => `print(open("../../../../../..${file}").read())`,
    { exitCode: 1, output: /FileNotFoundError/ },
  ),
  python(
    "links to a file of the host",
    ({ file }) => `import os
os.symlink(${JSON.stringify(file)}, "link")
print(os.readlink("link"))
print(open("link").read())`,
    { exitCode: 1, output: /FileNotFoundError/ },
  ),
  python("looks for the host's users", `print(open("/etc/passwd").read())`, {
    exitCode: 1,
    output: /FileNotFoundError/,
  }),
  python(
    "reads what the system tells of processes",
    `import glob
print(open("/proc/self/environ").read(), glob.glob("/proc/*"))`,
    { exitCode: 1, output: /Error/ },
  ),
  python(
    "writes to a directory of the host",
    ({ directory }) => `open("${directory}/written", "w").write("x")`,
    { exitCode: 1, output: /FileNotFoundError/ },
  ),
  python(
    "writes over the library of Python",
    `import os
for path in ("/lib/python314.zip", "/lib/python3.14/json.py", "/dev/null2", "/x"):
    try:
        open(path, "wb").write(b"x")
        print("written", path)
    except OSError as error:
        print(error.strerror)
os.remove("/lib/python314.zip")`,
    { exitCode: 1, output: /^(Read-only file system\n){4}[^]*OSError: \[Errno 69\]/ },
  ),
  python("changes modes outside of its places", `import os; os.chmod("/lib", 0o777)`, {
    exitCode: 1,
    output: /Read-only/,
  }),
  python(
    "makes a device to read the host's pipes with",
    `import os, stat
for major in range(1, 12):
    os.mknod(f"device{major}", 0o666 | stat.S_IFCHR, os.makedev(major, 0))`,
    { exitCode: 1, output: /Error/ },
  ),
  python(
    "reads from the terminal of the service",
    `for path in ("/dev/tty", "/dev/tty1", "/dev/stdin", "/dev/null"):
    print(path, open(path, "rb", buffering=0).read(100))`,
    { exitCode: 0, output: /^(\/dev\/\w+ b''\n){4}$/ },
  ),
  python(
    "reads what can only be written",
    `print(open("/dev/stdout", "rb", buffering=0).read(100))`,
    { exitCode: 1 },
  ),
  shell("reads a file of the host", ({ file }) => `cat ${file}; cat ../../../../..${file}`, {
    exitCode: 1,
    output: /No such file/,
  }),
  shell(
    "links to a file of the host",
    ({ file, directory }) =>
      `ln -s ${file} l; cat l; ln -s ${directory} d; ls d; echo x > d/written`,
    { output: /No such file/ },
  ),
  shell("lists the host", "ls / /root /home /etc /proc; find / -name passwd", {
    output: /No such file/,
  }),

  // The environment and processes of the host.
  python(
    "reads the environment",
    `import os, sys
print(dict(os.environ), os.getpid(), os.getppid(), sys.argv, sys.executable)`,
    { exitCode: 0, output: /HOME/ },
  ),
  shell("reads the environment", "env; export; echo $PPID; cat /proc/self/environ", {
    output: /HOME/,
  }),
  python("starts a program", `import subprocess; print(subprocess.run(["ls", "/"]))`, {
    exitCode: 1,
    output: /does not support processes/,
  }),
  python(
    "starts a program in other ways",
    ({ directory }) => `import os
print(os.system("touch ${directory}/system"))
for name in ("fork", "execv", "posix_spawn", "popen", "spawnl"):
    try:
        print(getattr(os, name)("/bin/sh", ["sh"]))
    except Exception as error:
        print(type(error).__name__)`,
    { exitCode: 0, output: /^32512\n(\w+Error\n){5}$/ },
  ),
  python(
    "kills the service",
    ({ pid }) => `import os
for victim in (${pid}, os.getppid(), 1, -1):
    try:
        os.kill(victim, 9)
        print("killed", victim)
    except OSError as error:
        print(type(error).__name__)`,
    {},
  ),
  shell(
    "kills the service",
    ({ pid }) => `kill -9 ${pid}; kill -9 $PPID; kill -9 -1; killall node`,
    {
      output: /not found/,
    },
  ),

  // The network.
  python(
    "connects to a server",
    ({ port }) => `import socket; socket.create_connection(("127.0.0.1", ${port}))`,
    { exitCode: 1, output: /gaierror/ },
  ),
  python(
    "connects past the names",
    ({ port }) => `import socket
s = socket.socket()
s.connect(("127.0.0.1", ${port}))`,
    { exitCode: 1, output: /PermissionError/ },
  ),
  python(
    "asks for a page",
    ({ port }) => `import urllib.request; urllib.request.urlopen("http://127.0.0.1:${port}/")`,
    { exitCode: 1, output: /URLError/ },
  ),
  python("listens", `import socket; socket.create_server(("0.0.0.0", 0))`, {
    exitCode: 1,
    output: /Error/,
  }),
  python(
    "connects in an event loop",
    ({ port }) => `import asyncio
asyncio.run(asyncio.open_connection("127.0.0.1", ${port}))`,
    { exitCode: 1, output: /Error/ },
  ),
  shell(
    "connects to a server",
    ({ port }) =>
      `curl http://127.0.0.1:${port}; wget http://127.0.0.1:${port}; echo x > /dev/tcp/127.0.0.1/${port}`,
    { output: /curl: command not found[^]*wget: command not found/ },
  ),

  // More than its share.
  python("never ends", "while True: pass", { endedBy: "timeout", exitCode: 124 }),
  python(
    "never ends and takes no interruption",
    `import signal
while True:
    try:
        while True: pass
    except BaseException: pass`,
    { endedBy: "timeout", exitCode: 124 },
  ),
  python("sleeps", `import time; time.sleep(1e6)`, { endedBy: "timeout", exitCode: 124 }),
  python("waits for what never comes", `import select; select.select([], [], [])`, {
    endedBy: "timeout",
    exitCode: 124,
  }),
  python("counts where nothing interrupts it", "sum(range(10 ** 12))", {
    endedBy: "timeout",
    exitCode: 124,
  }),
  python("computes a huge number", "10 ** 10 ** 8", { endedBy: "timeout", exitCode: 124 }),
  python("searches for ever", `import re; re.match(r"(a+)+$", "a" * 64 + "b")`, {
    endedBy: "timeout",
    exitCode: 124,
  }),
  python("takes all memory", "x = bytearray(10 ** 12)", { exitCode: 1, output: /OverflowError/ }),
  python("takes more memory than there is", "x = bytearray(2 ** 31 - 1)", {
    exitCode: 1,
    output: /MemoryError/,
  }),
  python("takes memory bit by bit", `x = []\nwhile True: x.append(bytearray(1_000_000))`, {
    exitCode: 1,
    output: /MemoryError/,
  }),
  python("nests without end", `x = []\nwhile True: x = [x, x]`, {}),
  python("recurses", `def f(): f()\nf()`, { exitCode: 1, output: /RecursionError/ }),
  python(
    "recurses without Python's limit",
    `import sys
sys.setrecursionlimit(2 ** 31 - 1)
class A:
    def __getattr__(self, name): return getattr(self, name + "x")
A().x`,
    { endedBy: "crashed" },
  ),
  python("parses what is nested too deep", `eval("(" * 10_000 + ")" * 10_000)`, { exitCode: 1 }),
  python("starts threads", `import threading\nwhile True: threading.Thread(target=print).start()`, {
    exitCode: 1,
    output: /can't start new thread/,
  }),
  python("prints without end", `while True: print("x" * 100_000)`, {
    endedBy: "timeout",
    exitCode: 124,
  }),
  python("fills the workspace", `open("big", "wb").write(bytes(20_000_000))`, {
    exitCode: 1,
    output: /No space left/,
  }),
  python(
    "fills the workspace with holes and what has no name",
    `import os
for size in (2 ** 40, 50_000_000):
    try:
        with open("sparse", "wb") as f: f.truncate(size)
        print("done")
    except OSError as error: print(error.strerror)
files = []
try:
    while True:
        f = open("unnamed", "wb"); os.remove("unnamed"); f.write(bytes(1_000_000)); f.flush(); files.append(f)
except OSError as error: print(len(files), error.strerror)`,
    { exitCode: 0, output: /^(No space left on device\n){2}\d+ No space left on device\n$/ },
  ),
  python(
    "makes too many files",
    `import itertools
for i in itertools.count(): open(f"f{i}", "w").close()`,
    { exitCode: 1, output: /OSError/ },
  ),
  python(
    "makes names that are too long",
    `import os
for name in ("n" * 300, "é" * 200):
    try: os.mkdir(name)
    except OSError as error: print(error.strerror)`,
    { exitCode: 0, output: /^Filename too long\n$/ },
  ),
  python(
    "makes directories without end",
    `import os
while True:
    os.mkdir("d"); os.chdir("d")`,
    { exitCode: 1, output: /OSError/ },
  ),
  python(
    "fills pipes",
    `import os\nr, w = os.pipe()\nwhile True: os.write(w, bytes(1_000_000))`,
    {},
  ),
  shell("never ends", "while true; do :; done", { endedBy: "timeout", exitCode: 124 }),
  shell("is a fork bomb", ":(){ :|:& };:", {}),
  shell("recurses", "f() { f; }; f", { output: /recursion|depth/ }),
  shell("starts itself", `echo 'bash x.sh' > x.sh; bash x.sh`, {}),
  shell("prints without end", "yes", {}),
  shell("takes memory bit by bit", "x=x; while true; do x=$x$x; done", {
    endedBy: "memory",
    exitCode: 137,
  }),
  shell("never ends in awk", "awk 'BEGIN { while (1) {} }'", { endedBy: "timeout", exitCode: 124 }),
  shell("counts for ever", "seq 1 1000000000000 | wc -l; echo {1..1000000000}", {}),
  shell(
    "fills the workspace",
    "printf '%*s' 1000000 x > a; for i in $(seq 20); do cp a b$i || exit; done; echo no",
    {
      output: /no space left/,
    },
  ),

  // JavaScript.
  ...["js", "pyodide_js", "_pyodide_core", "pyodide.ffi"].map((module) =>
    python(`imports ${module}`, `import ${module}`, {
      exitCode: 1,
      output: /(ModuleNotFound|Import)Error/,
    }),
  ),
  python(
    "brings back the bridge to JavaScript",
    `${UNHIDE}
import _pyodide_core
try: print(_pyodide_core.to_js([1]))
except BaseException: print("caught")
print("goes on")`,
    STOPPED,
  ),
  python(
    "takes JavaScript objects that are left over",
    `import gc
proxies = [o for o in gc.get_objects() if "Js" in type(o).__name__ and "Proxy" in type(o).__name__]
print(len(proxies))
for proxy in proxies: print(proxy.constructor.constructor("return process")().env)
raise SystemExit(1)`,
    { exitCode: 1 },
  ),
  python(
    "calls what it finds of JavaScript",
    `import gc, types
for o in gc.get_objects():
    if isinstance(o, types.ModuleType) and "pyodide" in o.__name__:
        for name, value in list(vars(o).items()):
            if callable(value):
                for args in ((), ("1",), ("1", "2")):
                    try: value(*args)
                    except BaseException: pass
raise SystemExit(1)`,
    { exitCode: 1 },
  ),
  python(
    "calls native functions",
    `${UNHIDE}
import ctypes
print(ctypes.pythonapi.emscripten_run_script(b"process.exit()"))`,
    { endedBy: "crashed" },
  ),
  python(
    "loads native code",
    `from importlib.machinery import ExtensionFileLoader, ModuleSpec
open("m.so", "wb").write(b"\\0asm\\1\\0\\0\\0")
loader = ExtensionFileLoader("m", "/workspace/m.so")
loader.create_module(ModuleSpec("m", loader, origin="/workspace/m.so"))`,
    { exitCode: 1 },
  ),
  python(
    "writes over the memory of the interpreter",
    `def f(): pass
f.__code__ = f.__code__.replace(co_code=bytes([116, 255, 100, 255] * 50), co_stacksize=1)
f()`,
    { after: UNTOUCHED },
  ),
  shell("evaluates JavaScript", "node -e 1; js-exec -c 1; deno eval 1; npx x", {
    output: /node: command not found[^]*js-exec: command not found/,
  }),
  shell(
    "names variables like what all JavaScript objects have",
    `declare -A a; a[__proto__]=x; a[constructor]=y; __proto__=1; constructor=2; export __proto__ constructor
echo '{"__proto__": {"polluted": 1}}' | jq -c '.__proto__.polluted, (.constructor.prototype.polluted = 1)'
awk 'BEGIN { a["__proto__"] = 1; a["constructor"] = 2; for (k in a) print k }'`,
    { after: { code: "print({}, [])", output: /^\{\} \[\]\n$/ } },
  ),
  python(
    "names files like what all JavaScript objects have",
    `import os
for name in ("__proto__", "constructor", "toString", "hasOwnProperty"):
    os.mkdir(name); open(f"{name}/__proto__", "w").write(name)`,
    {
      exitCode: 0,
      after: {
        code: `import os; print(sorted(os.listdir()), open("__proto__/__proto__").read())`,
        output: /^\['__proto__', 'constructor', 'hasOwnProperty', 'toString'\] __proto__\n$/,
      },
    },
  ),

  shell(
    "reaches for JavaScript from a script that goes on",
    `python3 -c 'import sys; sys.modules.pop("_pyodide_core"); import _pyodide_core; _pyodide_core.to_js([1])'; echo $?
python3 -c 'print("once more"); import sys; sys.modules.pop("_pyodide_core"); import _pyodide_core; _pyodide_core.to_js({})'`,
    {
      exitCode: 1,
      output: /reached out of the sandbox[^]*\n1\nonce more\n[^]*reached out/,
      after: UNTOUCHED,
    },
  ),

  // The runner itself.
  python(
    "patches everything",
    `import builtins, json, os, sys, io, time, gc, linecache, importlib, asyncio
sys.left = 1
builtins.print = builtins.len = builtins.open = builtins.compile = builtins.exec = None
json.loads = json.dumps = os.chdir = os.listdir = os._exit = time.sleep = lambda *a, **k: 1
sys.meta_path.clear(); sys.path.clear(); sys.path_hooks.clear()
for module in list(sys.modules): sys.modules[module] = None`,
    { after: UNTOUCHED },
  ),
  python(
    "patches the runner",
    `import sys, types
prelude = sys.modules["_prelude"]
for name, value in list(vars(prelude).items()):
    if isinstance(value, types.FunctionType): setattr(prelude, name, lambda *a, **k: 0)
prelude._exit = lambda code: None
open("/tmp/left", "w").write("x")`,
    { after: UNTOUCHED },
  ),
  python(
    "hooks into what comes later",
    `import sys, atexit, threading
class Trap:
    def __del__(self): print("too late")
sys.left = Trap()
sys.settrace(lambda *a: None); sys.setprofile(lambda *a: None); sys.addaudithook(lambda *a: None)
sys.excepthook = sys.unraisablehook = lambda *a: print("hooked")
atexit.register(lambda: print("end"))
sys.setrecursionlimit(50)`,
    { after: UNTOUCHED },
  ),
  python(
    "closes and redirects the descriptors",
    `import os
for fd in range(10):
    try: os.close(fd)
    except OSError: pass
os.open("/tmp/left", os.O_CREAT | os.O_RDWR)`,
    { after: UNTOUCHED },
  ),
  python("dies at once", `import os; open("kept.txt", "w").write("x"); os.abort()`, {
    after: { code: "print(1)", output: /^1\n$/ },
  }),
  python(
    "dies in the collector",
    `import faulthandler, os
try: faulthandler._sigsegv()
except AttributeError: pass
os._exit(7)`,
    { after: UNTOUCHED },
  ),

  // Work that is left behind.
  python(
    "leaves tasks behind",
    `import asyncio
async def later():
    await asyncio.sleep(0.05)
    open("late", "w").write("x")
async def main(): asyncio.create_task(later())
asyncio.run(main())
loop = asyncio.new_event_loop()
loop.call_later(0.05, lambda: open("late", "w").write("x"))`,
    { exitCode: 0, after: { code: `import os; print(os.listdir())`, output: /^\[\]\n$/ } },
  ),
  python(
    "leaves a timer behind",
    `import signal, threading
try: signal.setitimer(signal.ITIMER_REAL, 0.05)
except (AttributeError, OSError) as error: print("no timer")
threading.Timer(0.05, lambda: open("late", "w").write("x")).start()`,
    { exitCode: 1, after: { code: `import os; print(os.listdir())`, output: /^\[\]\n$/ } },
  ),
  shell("leaves work behind", "(sleep 0.05; echo x > late) & echo started", {
    after: {
      code: `import os, time; time.sleep(0.1); print(os.path.exists("late") and "run to its end or not at all")`,
      output: /^(False|run to its end or not at all)\n$/,
    },
  }),

  // Results that are not.
  python(
    "prints what the runner would say",
    `import os, struct, sys
report = b'{"exitCode":0,"spent":false}'
for kind in range(13):
    os.write(1, bytes([kind]) + struct.pack(">I", len(report)) + report)
sys.exit(9)`,
    { exitCode: 9, output: /exitCode/ },
  ),
  python(
    "writes to every descriptor",
    `import os, sys
frame = bytes([11, 0, 0, 0, 28]) + b'{"exitCode":0,"spent":false}'
for fd in range(3, 100):
    try: os.write(fd, frame); print("written", fd)
    except OSError: pass
sys.exit(9)`,
    { exitCode: 9, output: /^$/ },
  ),
  python(
    "writes to descriptors by name",
    `import sys
for path in ("/proc/self/fd/4", "/dev/fd/4", "/proc/1/fd/1"):
    try: open(path, "wb").write(b"x")
    except OSError as error: print(type(error).__name__)
sys.exit(9)`,
    { exitCode: 9, output: /^(\w+Error\n){3}$/ },
  ),
  shell(
    "writes to every descriptor",
    'for i in 3 4 5 6 7 8 9; do eval "echo x >&$i"; done; exit 9',
    {
      exitCode: 9,
      output: /Bad file descriptor/,
    },
  ),
  shell(
    "sends output to where the runner reads it",
    `printf '\\013\\000\\000\\000\\034{"exitCode":0,"spent":false}' > /dev/output; exit 9`,
    { exitCode: 9, output: /exitCode/ },
  ),

  // Other sessions.
  python(
    "looks for other sessions",
    `import os
print(sorted(os.listdir("/workspace")), sorted(os.listdir("/tmp")), os.listdir("/home"), open("/tmp/../workspace/secret.txt").read())`,
    { exitCode: 1, output: /FileNotFoundError/ },
  ),
  shell(
    "looks for other sessions",
    "find / -name 'secret*' 2>/dev/null; ls -R /workspace /tmp; echo done",
    {
      output: /done/,
    },
  ),
];

import { type Attack, python, shell, UNTOUCHED } from "./attack.ts";

/** What runs the code: patching it, outliving it, speaking in its name. */
export const RUNNER: readonly Attack[] = [
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
];

import { type Attack, python, shell } from "./attack.ts";

/** More than a block may have: time, memory, output, files. */
export const SHARE: readonly Attack[] = [
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
    { exitCode: 0, output: /^(Filename too long\n){2}$/ },
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
];

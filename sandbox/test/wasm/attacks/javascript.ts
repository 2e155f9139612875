import { type Attack, python, shell, UNTOUCHED } from "./attack.ts";

/** Ended at the gate between WebAssembly and JavaScript. */
const STOPPED = { endedBy: "crashed", exitCode: 1, output: /tried to leave the sandbox/ } as const;

/** Brings back the modules that were hidden. */
const UNHIDE = `
import sys
for name in [name for name, module in sys.modules.items() if module is None]: del sys.modules[name]
`;

/** The way out of WebAssembly, to JavaScript. */
export const JAVASCRIPT: readonly Attack[] = [
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
      output: /tried to leave[^]*\n1\nonce more\n[^]*tried to leave/,
      after: UNTOUCHED,
    },
  ),
];

// The Python that goes into the sandbox, and the module that carries it.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import {
  errorsIn,
  format,
  modules,
  programModule,
  target,
} from "../../../../scripts/python-program.mjs";

test.each(modules())("$name is formatted and has no errors", (module) => {
  expect(errorsIn(module)).toEqual([]);
  expect(module.source, "run `npm run python`").toBe(format(module.source));
});

test("program.ts is the Python beside it", () => {
  expect(readFileSync(target, "utf8"), "run `npm run python`").toBe(programModule(modules()));
});

test("undefined names and missing modules are errors", () => {
  const module = { name: "wrong.py", source: "from .x import z\n\nprint(z, y)\n" };
  expect(errorsIn(module)).toEqual(["wrong.py:3:10 F821 Undefined name `y`"]);
  expect(() => programModule([{ ...module, name: "main.py" }])).toThrow("there is no x.py");
});

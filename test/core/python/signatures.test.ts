// What the Python in a sandbox says a function takes, beside what AutoGen 0.7.5 told the model on CPython 3.11.
import { expect, test } from "vitest";
import { inspectFunctions } from "#core/python/inspect-functions.ts";
import { type Import, pythonSource } from "#core/python/python-source.ts";
import { LocalPython } from "../../support/local-python.ts";
import signatures from "./signatures.json" with { type: "json" };

const sources = signatures.map(({ source_code, global_imports }) =>
  pythonSource("", source_code, global_imports as Import[]),
);

const python = new LocalPython();
const findings = await inspectFunctions(python, sources);

test("all signatures are read in one request, in a session that is removed", () => {
  expect(findings).toHaveLength(signatures.length);
  expect(python.ran).toHaveLength(1);
  expect(python.open).toBe(0);
});

test.each(signatures.map((signature, index) => ({ ...signature, finding: findings[index] })))(
  "the signature is read of $name",
  ({ parameters, finding }) => {
    if (parameters === null) {
      expect(finding).toEqual({ place: "source_code", message: expect.any(String) });
    } else {
      expect(finding).toMatchObject({ parameters });
      // Keys in AutoGen's order, too: models read them.
      expect(JSON.stringify(finding)).toContain(JSON.stringify(parameters));
    }
  },
);

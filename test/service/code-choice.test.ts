import { describe, expect, test } from "vitest";
import { loaderJavaScript } from "#components/worker-loader/loader-javascript.ts";
import type { WorkerLoaderBinding } from "#components/worker-loader/worker-loader.ts";
import { codeChoice } from "#service/code-choice.ts";
import { codeWord, parseSettings } from "#service/parse-settings.ts";

/** Is never asked for a Worker. */
const LOADER: WorkerLoaderBinding = {
  get() {
    throw new Error("not expected");
  },
  load() {
    throw new Error("not expected");
  },
};
const containers = { url: "https://containers.internal" };
const service = { url: "https://sandbox.example.com" };
const all = { LOADER, containers, service, local: false };
const nothing = { LOADER: undefined, containers: undefined, service: undefined, local: false };

const dynamic = loaderJavaScript(LOADER).place;
const sandboxed = "in the sandbox of this server";

describe("The setting CODE", () => {
  test.each([
    // What is configured; the setting; the named place, where JavaScript runs, and the sandbox.
    [all, undefined, "loader", dynamic, containers],
    [all, "", "loader", dynamic, containers],
    [all, "auto", "loader", dynamic, containers],
    [all, "loader", "loader", dynamic, undefined],
    [all, "containers", "containers", sandboxed, containers],
    [all, "service", "service", sandboxed, service],
    [all, " off ", "off", undefined, undefined],
    [{ ...nothing, LOADER }, "auto", "loader", dynamic, undefined],
    [{ ...nothing, LOADER, service }, "auto", "loader", dynamic, service],
    [{ ...nothing, containers, service }, "auto", "containers", sandboxed, containers],
    [{ ...nothing, service }, "auto", "service", sandboxed, service],
    [nothing, "auto", "off", undefined, undefined],
    // The runtime on a machine of one's own limits neither time nor memory.
    [{ ...all, local: true }, "auto", "containers", sandboxed, containers],
    [{ ...nothing, LOADER, local: true }, "auto", "off", undefined, undefined],
    [{ ...nothing, LOADER, local: true }, "loader", "loader", dynamic, undefined],
  ] as const)(
    "chooses where code runs: %j, %s",
    async (configured, CODE, named, place, sandbox) => {
      const choice = codeChoice({ ...configured, CODE });
      expect(choice.place).toBe(named);
      expect(choice.sandbox).toBe(sandbox);
      expect((await choice.javascript?.())?.place).toBe(place);
    },
  );

  test.each([
    ["loader", 'CODE is "loader", which needs the binding LOADER'],
    ["containers", 'CODE is "containers", which needs the binding CONTAINERS'],
    ["service", 'CODE is "service", which needs SANDBOX_URL'],
  ])("is refused as %s without what it needs", (CODE, message) => {
    expect(() => codeChoice({ ...nothing, CODE })).toThrow(message);
  });

  test("is refused as another word, and the words are listed", () => {
    const message = 'CODE is "docker": it must be auto, loader, containers, service or off';
    expect(() => codeWord("docker")).toThrow(message);
    expect(() => parseSettings({ CODE: "docker" })).toThrow(message);
  });
});

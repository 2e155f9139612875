import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";
import type { TestProject } from "vitest/node";
import { jsonInit } from "../../../support/http-app.ts";
import { NpmStart } from "../../../support/npm-start.ts";
import { freePort } from "../../../support/ports.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The address of the `npm start` that all tests of features share. */
    npmStart: string;
    /** The port where it sends traces and metrics; a test may listen there. */
    collectorPort: number;
  }
}

/** Starts the server before the first test. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const persistTo = mkdtempSync(join(tmpdir(), "troupe-features-"));
  const collectorPort = await freePort();
  const server = await NpmStart.ready({
    port: await freePort(),
    persistTo,
    sandbox: true,
    settings: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collectorPort}`,
      // It starts in no time.
      SANDBOX_ISOLATION: "process",
      SANDBOX_FORCE_PROCESS: "1",
    },
  });
  project.provide("npmStart", server.url);
  project.provide("collectorPort", collectorPort);
  return async () => {
    await server[Symbol.asyncDispose]();
    rmSync(persistTo, { recursive: true, force: true });
  };
}

/** The server, as tests ask it. */
export const server = {
  get origin(): string {
    return inject("npmStart");
  },

  fetch(path: string, init?: RequestInit): Promise<Response> {
    return fetch(new URL(path, this.origin), init);
  },

  /** @throws Error with the answer unless it is 2xx */
  async json<T>(path: string, body?: unknown, method = "POST"): Promise<T> {
    const response = await this.fetch(path, body === undefined ? {} : jsonInit(body, method));
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text) as T;
  },
};

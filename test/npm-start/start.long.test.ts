import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { NpmStart } from "../support/npm-start.ts";
import { freePort, isFree } from "../support/ports.ts";
import { commandLines } from "../support/programs.ts";

let persistTo: string;
let port: number;

beforeEach(async () => {
  persistTo = mkdtempSync(join(tmpdir(), "troupe-start-"));
  port = await freePort();
});

afterEach(() => rmSync(persistTo, { recursive: true, force: true }));

/** Processes whose command line names this test's state or port. */
function processes(): string[] {
  return commandLines().filter(
    (line) => line.includes(persistTo) || line.includes(`127.0.0.1:${port}`),
  );
}

describe("npm start", () => {
  test("prints the next steps, and leaves no process behind", async () => {
    const server = await NpmStart.ready({ port, persistTo });
    // npm's own first lines apart, nothing but our text.
    const said = server.output.slice(server.output.indexOf("Troupe is running"));
    expect(server.output.slice(0, -said.length)).not.toMatch(/wrangler|binding/i);
    expect(said).toContain(`Troupe is running: ${server.url}`);
    expect(said).toMatch(/writer_critic +A writer and a critic/);
    expect(said).toMatch(/human_in_the_loop[\s\S]*tools_assistant[\s\S]*set OPENAI_API_KEY/);
    expect(said).toContain(`curl -N ${server.url}/v1/teams/demo/runs`);
    expect(processes()).not.toEqual([]);
    await server.interrupt();
    expect(existsSync(join(persistTo, "vars.env"))).toBe(false);
    expect(processes()).toEqual([]);
    expect(await isFree(port)).toBe(true);
  });

  test("reports at once that a Worker does not compile", async () => {
    const config = join(persistTo, "wrangler.toml");
    writeFileSync(join(persistTo, "worker.ts"), "export default {");
    writeFileSync(
      config,
      'name = "broken"\nmain = "worker.ts"\ncompatibility_date = "2026-09-18"\n',
    );
    await using server = new NpmStart({ port, persistTo, args: ["--config", config] });
    expect(await server.until(/ERROR[\s\S]*worker\.ts/)).not.toBeNull();
    expect(server.output).not.toContain("Troupe is running");
  });

  test("refuses an invalid PORT", async () => {
    const server = new NpmStart({ port: "http", persistTo });
    expect(await server.exit()).toBe(1);
    expect(server.output).toContain('PORT is "http": it must be a number from 1 to 65535.');
  });

  test("refuses a port that is taken, and names the remedy", async () => {
    const other = createServer().listen(port, "127.0.0.1");
    await once(other, "listening");
    const server = new NpmStart({ port, persistTo });
    expect(await server.exit()).toBe(1);
    expect(server.output).toContain(`Port ${port} is taken by another program.`);
    expect(server.output).toContain(`PORT=${port + 1} npm start`);
    other.close();
  });

  test("refuses a state that another server uses, names that server, and takes over when it was killed", async () => {
    const first = await NpmStart.ready({ port, persistTo });
    const second = new NpmStart({ port: await freePort(), persistTo });
    expect(await second.exit()).toBe(1);
    expect(second.output).toContain(
      `The state in ${persistTo} is in use by another server: process ${first.pid}, ${first.url}.`,
    );
    expect(second.output).toMatch(/PERSIST_TO=\S+ PORT=\d+ npm start/);
    process.kill(Number(first.pid), "SIGKILL");
    await using third = await NpmStart.ready({ port, persistTo });
    expect((await fetch(`${third.url}/healthz`)).status).toBe(200);
  });

  test("refuses a TROUPE_OPEN that is neither 1 nor 0", async () => {
    const server = new NpmStart({ port, persistTo, settings: { TROUPE_OPEN: "yes" } });
    expect(await server.exit()).toBe(1);
    expect(server.output).toContain('TROUPE_OPEN is "yes"');
  });
});

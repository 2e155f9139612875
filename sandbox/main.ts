import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { createListener } from "./app.ts";
import { createIsolation, describeIsolation, missingWalls, programIsolation } from "./isolation.ts";
import { lock } from "./lock.ts";
import manifest from "./package.json" with { type: "json" };
import { Programs } from "./sessions/programs.ts";
import { Sessions } from "./sessions/sessions.ts";
import { readSettings, type Settings, SettingsError } from "./settings.ts";

/** Logs an internal error. */
function log(error: unknown): void {
  console.error(error instanceof Error ? error.stack : error);
}

/** The service exits at the latest after this time, even if something hangs. */
const MAX_SHUTDOWN_MS = 10_000;

/** For responses that announce the shutdown to clients. */
const LAST_RESPONSES_MS = 500;

async function start(settings: Settings): Promise<void> {
  await mkdir(settings.data, { recursive: true, mode: 0o700 });
  await lock(settings.data);
  // The first line says what isolates code.
  const later: string[] = [];
  const isolation = await createIsolation(settings, process.env, (line) => later.push(line));
  const forPrograms = programIsolation(settings, isolation, process.env);
  await isolation.start();
  if (forPrograms !== isolation) await forPrograms?.start();
  console.log(describeIsolation(isolation, forPrograms));
  for (const missing of missingWalls(isolation, forPrograms))
    later.push(`Warning: there is no isolation by ${missing}.`);
  later.splice(0).forEach(log);
  const sessions = await Sessions.open({ ...settings, isolation, log });
  const programs = new Programs({ ...settings, isolation: forPrograms, sessions, log });
  const { version } = manifest;
  const services = {
    sessions,
    programs,
    isolation,
    programIsolation: forPrograms,
    settings,
    log,
    version,
  };
  const server = createServer(createListener(services));
  server.listen(settings.port, settings.host);
  await once(server, "listening");
  const { address, port, family } = server.address() as AddressInfo;
  const host = family === "IPv6" ? `[${address}]` : address;
  console.log(`Sandbox (${isolation.name}) listening on http://${host}:${port}`);

  let stopping = false;
  const stop = async (): Promise<void> => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), MAX_SHUTDOWN_MS).unref();
    const answered = once(server.close(), "close");
    await programs.close();
    await sessions.close();
    if (forPrograms !== isolation) await forPrograms?.close();
    // Kept-alive connections would delay the shutdown.
    setInterval(() => server.closeIdleConnections(), 10);
    await Promise.race([answered, wait(LAST_RESPONSES_MS)]);
    process.exit();
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => void stop());
}

try {
  await start(readSettings(process.env));
} catch (error) {
  // An operator needs the message of a settings error, but the stack of any other one.
  console.error(error instanceof SettingsError ? error.message : error);
  process.exit(1);
}

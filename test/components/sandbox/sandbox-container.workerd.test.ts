import { runInDurableObject } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import { SandboxContainer } from "../../../sandbox/cloudflare/sandbox-container.ts";
import { counter, TestTeam } from "../../team/support/team.ts";

/** A container that runs on when its object is evicted, and answers each request with its address. */
class OutlivingContainer {
  readonly images = { sandbox: "registry.example/sandbox@sha256:00" };
  /** Each answer but those on health. */
  readonly requests: string[] = [];
  running = false;
  snapshots = 0;
  /** Called with the first question about health. */
  started: () => Promise<void> = () => Promise.resolve();

  start(): void {
    this.running = true;
  }

  monitor(): Promise<void> {
    return new Promise(() => undefined);
  }

  async setInactivityTimeout(): Promise<void> {}

  getTcpPort(): Pick<Fetcher, "fetch"> {
    const send = async (url: string): Promise<Response> => {
      const { pathname, search } = new URL(url);
      if (pathname === "/healthz") await this.started();
      else this.requests.push(pathname + search);
      return new Response("ok");
    };
    return { fetch: send };
  }

  async snapshotContainer(): Promise<{ id: string; size: number }> {
    this.snapshots++;
    return { id: `snapshot-${this.snapshots}`, size: 1 };
  }

  async destroy(): Promise<void> {
    this.running = false;
  }
}

/** Runs with a container, and with a function that makes the object that has it, as the runtime does after an eviction. */
async function withContainer(
  use: (
    container: OutlivingContainer,
    wake: () => SandboxContainer,
    storage: DurableObjectStorage,
  ) => Promise<void>,
): Promise<void> {
  const { stub } = await TestTeam.create(counter("ann"));
  await runInDurableObject(stub, async (_instance, state) => {
    const container = new OutlivingContainer();
    class Woken extends SandboxContainer {
      protected override container(): Container {
        return container as unknown as Container;
      }
    }
    try {
      await use(container, () => new Woken(state, {}), state.storage);
    } finally {
      await state.storage.deleteAlarm();
    }
  });
}

const FILES = "https://sandbox/v1/sessions/team/files";

async function read(object: SandboxContainer, url = FILES): Promise<void> {
  const response = await object.fetch(new Request(url));
  expect(await response.text()).toBe("ok");
}

describe("The object of a container", () => {
  test("stores and stops it though it was evicted since the last request", () =>
    withContainer(async (container, wake) => {
      await read(wake());
      await wake().alarm();
      expect(container).toMatchObject({ snapshots: 1, running: false });
    }));

  test("leaves one alone that was used a moment ago, and wakes again", () =>
    withContainer(async (container, wake, storage) => {
      const object = wake();
      await read(object);
      await storage.deleteAlarm();
      await object.alarm();
      expect(container).toMatchObject({ snapshots: 0, running: true });
      expect(await storage.getAlarm()).not.toBeNull();
    }));

  test("wakes for one that did not answer before the object ended", () =>
    withContainer(async (container, wake, storage) => {
      let alarm: number | null = null;
      container.started = async () => {
        alarm = await storage.getAlarm();
      };
      await storage.deleteAlarm();
      await read(wake());
      expect(alarm).not.toBeNull();
    }));

  test("passes the query of a request on", () =>
    withContainer(async (container, wake) => {
      await read(wake(), `${FILES}?limit=1&cursor=a%2Fb`);
      expect(container.requests).toEqual(["/v1/sessions/team/files?limit=1&cursor=a%2Fb"]);
    }));
});

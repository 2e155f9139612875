import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, test } from "vitest";
import { DurableObjectTenants } from "#tenant/object/durable-object-tenants.ts";
import { tenantStub } from "../../team/support/tenant.ts";
import { human } from "../../team/support/components.ts";
import { counter, roundRobin, TestTeam, value } from "../../team/support/team.ts";

interface FeedEvent {
  name: string;
  number: number;
  /** The id of the team, run or question that it shows. */
  id: string;
}

/** The events of a stream. */
async function* readEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<FeedEvent, void, void> {
  let text = "";
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    const blocks = (text + piece).split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) {
      const [, name, number, data = ""] = /^event: (\w+)\nid: (\d+)\ndata: (.*)$/.exec(block) ?? [];
      if (name === undefined) continue;
      yield { name, number: Number(number), id: (JSON.parse(data) as { id: string }).id };
    }
  }
}

/** The events of a tenant after a cursor. */
async function open(tenant: string, after: number): Promise<AsyncGenerator<FeedEvent, void, void>> {
  const tenants = new DurableObjectTenants(env.TENANT, 30_000).tenant(tenant);
  return readEvents(value(await tenants.events(after, "all", { credential: "" })));
}

/** What an event is about: the same for a question and its end. */
function subjectOf({ name, id }: FeedEvent): string {
  return `${name.replace("_closed", "")} ${id}`;
}

test("a client that is cut after any event gets the others, and the tenant is unloaded between any two events", async () => {
  const tenant = "feed";
  const events: FeedEvent[] = [];
  const watcher = await open(tenant, 0);
  /** Reads on up to an event. */
  const until = async (isLast: (event: FeedEvent) => boolean): Promise<void> => {
    for (;;) {
      const next = await watcher.next();
      if (next.done) throw new Error(`the feed ended after ${JSON.stringify(events)}`);
      events.push(next.value);
      if (isLast(next.value)) break;
    }
    // Loads it again, if it was unloaded before it had more to send.
    await tenantStub(tenant).limits();
    await evictDurableObject(env.TENANT.get(env.TENANT.idFromName(tenant)));
  };

  const team = await TestTeam.create(roundRobin([human()], 2), tenant);
  await team.delivered();
  await until(({ name }) => name === "team");
  const { id } = await team.start("go");
  for (const content of ["one", "two"]) {
    await until(({ name }) => name === "request");
    const { requests } = await team.run(id);
    value(await team.gateway.answer(id, requests[0]?.id ?? "", { content }));
    await until(({ name }) => name === "request_closed");
  }
  await team.finished(id);
  await team.delivered();
  const over = await team.start("again");
  await until(({ name, id: run }) => name === "run" && run === over.id);

  const numbers = events.map(({ number }) => number);
  expect(numbers).toEqual([...new Set(numbers)].toSorted((one, other) => one - other));
  for (const [index, { number }] of events.slice(0, -1).entries()) {
    const missed = new Set(events.slice(index + 1).map(subjectOf));
    const again = await open(tenant, number);
    for await (const event of again) {
      missed.delete(subjectOf(event));
      if (missed.size === 0) break;
    }
  }
  await watcher.return();
});

test("changes beyond a page come once, in order, with those of the meantime", async () => {
  const tenant = "watched-pages";
  const metadata = { note: "x".repeat(12_000) };
  const create = async (): Promise<TestTeam> => {
    const team = new TestTeam(tenant);
    value(
      await team.gateway.create({ id: team.id, label: null, metadata, component: counter("a") }),
    );
    await team.delivered();
    return team;
  };
  const teams: string[] = [];
  for (let count = 0; count < 14; count++) teams.push((await create()).id);
  const frames = await open(tenant, 0);
  const seen: string[] = [];
  const next = async (): Promise<void> => {
    const { value: event } = await frames.next();
    if (event?.name === "team") seen.push(event.id);
  };
  await next();
  teams.push((await create()).id);
  while (seen.length < teams.length) await next();
  expect(seen).toEqual(teams);
  await frames.return();
});

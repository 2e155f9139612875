import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import type { TenantLimits } from "#contract/tenant/tenant.ts";
import { tenantStub } from "../../team/support/tenant.ts";
import { Tenant } from "../../team/support/worker.ts";
import { agent, counter, TestTeam, startInput, value } from "../../team/support/team.ts";
import { PATIENCE } from "../../support/patience.ts";

let count = 0;
let tenant: string;

beforeEach(() => {
  tenant = `limited-${++count}`;
});

async function limit(limits: Partial<TenantLimits>): Promise<void> {
  value(await tenantStub(tenant).put({ limits }));
}

function start(team: TestTeam, options = {}) {
  return team.gateway.startRun(startInput("go", options));
}

function tooMany(what: string, name: keyof TenantLimits, reached: number) {
  const extra = { limit: name, value: reached };
  return { ok: false, problem: { status: 429, code: `too_many_${what}`, extra } };
}

const asker = () =>
  agent("asker", async function* (self, ctx) {
    yield* [];
    await ctx.ask({ id: ctx.id(), kind: "input", source: self.name, prompt: "Which?" });
    return "thanks";
  });

test("active runs are counted over all teams, those included that started at once", async () => {
  await limit({ active_runs: 2 });
  const teams = await Promise.all(
    Array.from({ length: 5 }, () => TestTeam.create(asker(), tenant)),
  );
  const started = await Promise.all(teams.map((team) => start(team)));
  expect(started.filter(({ ok }) => ok)).toHaveLength(2);
  const refused = started.findIndex(({ ok }) => !ok);
  expect(started[refused]).toMatchObject(tooMany("active_runs", "active_runs", 2));
  const running = teams[started.findIndex(({ ok }) => ok)];
  value(await start(running as TestTeam, { on_conflict: "interrupt" }));
  value(await (running as TestTeam).gateway.destroy());
  await vi.waitFor(async () => value(await start(teams[refused] as TestTeam)), PATIENCE);
});

test("runs per minute are limited, and a repeated or refused request does not count", async () => {
  await limit({ runs_per_minute: 2 });
  const team = await TestTeam.create(asker(), tenant);
  const idempotency = { key: "k", hash: "h" };
  const first = value(await start(team, { idempotency }));
  expect(value(await start(team, { idempotency })).id).toBe(first.id);
  expect(await start(team)).toMatchObject({ problem: { code: "team_busy" } });
  value(await start(team, { on_conflict: "interrupt" }));
  const refused = await start(team, { on_conflict: "interrupt" });
  expect(refused).toMatchObject(tooMany("runs", "runs_per_minute", 2));
  expect(refused).toMatchObject({ problem: { retry_after: expect.any(Number) as number } });
  const { active_run } = value(await team.gateway.team());
  expect(active_run).not.toBeNull();
});

test("bytes of messages per minute are limited over tasks and answers", async () => {
  await limit({ message_bytes_per_minute: 2_000 });
  const team = await TestTeam.create(asker(), tenant);
  const run = value(await start(team));
  const [question] = await vi.waitFor(async () => {
    const requests = value(await team.gateway.requests(run.id));
    expect(requests).toHaveLength(1);
    return requests;
  }, PATIENCE);
  const answer = { content: "x".repeat(5_000) };
  expect(await team.gateway.answer(run.id, question?.id ?? "", answer)).toMatchObject(
    tooMany("message_bytes", "message_bytes_per_minute", 2_000),
  );
  expect(value(await team.gateway.requests(run.id))).toHaveLength(1);
  value(await team.gateway.answer(run.id, question?.id ?? "", { content: "x" }));
});

test("a team above the limit of stored bytes starts no run and is unchanged", async () => {
  const team = await TestTeam.create(counter("a"), tenant);
  await team.finished(value(await start(team)).id);
  await limit({ stored_bytes_per_team: 1 });
  expect(await start(team)).toMatchObject({
    ok: false,
    problem: { status: 507, code: "too_many_stored_bytes", extra: { value: 1 } },
  });
  expect(value(await team.gateway.runs({ limit: 5 })).runs).toHaveLength(1);
});

test("tokens per day are limited, over the runs that ended", async () => {
  await limit({ tokens_per_day: 1, tokens_per_month: 1_000 });
  const team = await TestTeam.create(
    {
      provider: "AssistantAgent",
      config: {
        name: "a",
        description: "An assistant",
        model_client: {
          provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
          config: { chat_completions: ["hello"], cycle: true },
        },
        reflect_on_tool_use: false,
        tool_call_summary_format: "{result}",
      },
    },
    tenant,
  );
  await team.finished(value(await start(team)).id);
  await team.delivered();
  const refused = await start(team);
  expect(refused).toMatchObject(tooMany("tokens", "tokens_per_day", 1));
  await limit({ tokens_per_day: null });
  value(await start(team));
});

test("streams of a team and of the tenant are limited, and one that ends makes room", async () => {
  await limit({ streams_per_team: 2, streams_per_tenant: 3 });
  const [one, other] = [
    await TestTeam.create(asker(), tenant),
    await TestTeam.create(asker(), tenant),
  ];
  // Each with a credential of its own, none of which has a stream to give up.
  let credentials = 0;
  const refused = (team: TestTeam) => streamOf(team, `key-${++credentials}`);
  const open = async (team: TestTeam) => bodyOf(await refused(team));
  const streams = [await open(one), await open(one)];
  expect(await refused(one)).toMatchObject(tooMany("streams", "streams_per_team", 2));
  streams.push(await open(other));
  expect(await refused(other)).toMatchObject(tooMany("streams", "streams_per_tenant", 3));
  await streams[0]?.cancel();
  const started = value(await one.gateway.startRun(startInput("go")));
  await one.rested(started.id);
  await vi.waitFor(async () => {
    const opened = await refused(other);
    expect(opened.ok).toBe(true);
  }, PATIENCE);
});

function streamOf(team: TestTeam, credential: string, signal?: AbortSignal) {
  const caller = { credential, ...(signal && { signal }) };
  return team.as(caller).stream({ run: null, after: 0 });
}

function bodyOf(opened: Awaited<ReturnType<typeof streamOf>>) {
  const stream = value(opened);
  if ("done" in stream) throw new Error("the stream is over");
  return stream.body;
}

/** Reads a stream to its end. */
async function isOver(body: ReadableStream<Uint8Array>): Promise<true> {
  const reader = body.getReader();
  while (!(await reader.read()).done);
  return true;
}

test("streams of a credential are limited: the oldest ends first, at its own limit and at the team's", async () => {
  await limit({ streams_per_credential: 2, streams_per_team: 3 });
  const team = await TestTeam.create(asker(), tenant);
  const mine = [];
  for (let round = 0; round < 10; round++) mine.push(bodyOf(await streamOf(team, "busy")));
  for (const body of mine.slice(0, 8)) expect(await isOver(body)).toBe(true);
  // The others have places, however many streams the busy one opens and drops.
  bodyOf(await streamOf(team, "quiet"));
  expect(await streamOf(team, "late")).toMatchObject(tooMany("streams", "streams_per_team", 3));
  bodyOf(await streamOf(team, "quiet"));
  bodyOf(await streamOf(team, "busy"));
  expect(await isOver(mine[8]!)).toBe(true);
});

test("a stream whose request is aborted frees its place at once", async () => {
  await limit({ streams_per_team: 1 });
  const team = await TestTeam.create(asker(), tenant);
  for (let round = 0; round < 20; round++) {
    const left = new AbortController();
    const opened = await vi.waitUntil(async () => {
      const stream = await streamOf(team, `key-${round}`, left.signal);
      return stream.ok && stream;
    }, PATIENCE);
    await bodyOf(opened).getReader().read();
    left.abort();
  }
});

test("a refused request closes no stream and takes no place", async () => {
  await limit({ streams_per_credential: 1, streams_per_tenant: 2, active_runs: 0 });
  const team = await TestTeam.create(counter("a"), tenant);
  const other = await TestTeam.create(counter("a"), tenant);
  const busy = team.as({ credential: "busy" });
  const stream = bodyOf(await streamOf(team, "busy"));
  expect(await busy.startStream(startInput("go"))).toMatchObject(
    tooMany("active_runs", "active_runs", 0),
  );
  await limit({ active_runs: 5 });
  const { id: run } = await team.finished(value(await start(team)).id);
  const answers = [{ request: "none", answer: { content: "x" } }];
  expect(await busy.continueRun({ run, answers }, { after: 0 })).toMatchObject({
    problem: { code: "run_ended" },
  });
  expect(await other.as({ credential: "other" }).stream({ run: "none", after: 0 })).toMatchObject({
    problem: { code: "run_not_found" },
  });
  await vi.waitFor(async () => bodyOf(await streamOf(team, "third")), PATIENCE);
  const later = await team.finished(value(await start(team)).id);
  await textUntil(stream, later.id);
});

test("a budget in money holds for a call whose claim meets a reset of the tenant, which no claim creates", async () => {
  await limit({ cost_per_day: 1 });
  const tenants: object = Tenant.prototype;
  const claimed: unknown = Reflect.get(tenants, "claim");
  if (typeof claimed !== "function") throw new TypeError("tenants have no claims");
  let claims = 0;
  onTestFinished(() => void Reflect.deleteProperty(tenants, "claim"));
  Object.defineProperty(tenants, "claim", {
    configurable: true,
    value(this: { ctx: DurableObjectState }, ...given: unknown[]): unknown {
      claims++;
      if (claims === 1) this.ctx.abort("reset");
      return Reflect.apply(claimed, this, given);
    },
  });
  const team = await TestTeam.create(
    agent("a", async function* (_self, ctx) {
      yield* [];
      const usage = { prompt_tokens: 1, completion_tokens: 1 };
      const { content } = await ctx.step("call", () => Promise.resolve({ content: "", usage }), {
        kind: "model",
        estimate: () => Promise.resolve({ model: "unpriced", ...usage }),
      });
      return content;
    }),
    tenant,
  );
  const { error } = await team.finished(value(await start(team)).id);
  expect(error).toMatchObject({ type: "price_unknown" });
  expect(claims).toBe(2);

  const absent = tenantStub(`${tenant}-deleted`);
  const claim = { team: "t", run: "r", spent: 0, reserved: 0, wanted: 1, waited: false };
  expect(await absent.claim({ ...claim, longest: undefined })).toMatchObject({ ok: false });
  expect(await absent.info()).toMatchObject({ problem: { code: "tenant_not_found" } });
});

/** Reads a stream until it has a text. @throws Error when it ends before */
async function textUntil(body: ReadableStream<Uint8Array>, wanted: string): Promise<void> {
  let text = "";
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.includes(wanted)) return;
  }
  throw new Error(`the stream has ended without ${wanted}`);
}

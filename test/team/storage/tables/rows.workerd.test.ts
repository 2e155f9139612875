import { runInDurableObject } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import type { ComponentModel } from "troupe";
import { roundRobin, TestTeam, value } from "../../support/team.ts";

/** An assistant with a replayed model: what is called a plain agent. */
function assistant(name: string, reply = "hello"): ComponentModel {
  return {
    provider: "AssistantAgent",
    config: {
      name,
      description: "An assistant",
      model_client: {
        provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
        config: { chat_completions: [reply], cycle: true },
      },
      model_context: {
        provider: "BufferedChatCompletionContext",
        config: { buffer_size: 5 },
      },
      reflect_on_tool_use: false,
      tool_call_summary_format: "{result}",
    },
  };
}

/** Runs a team to its end and says how many rows that took, until its tenant knows. */
async function rowsOfRun(team: TestTeam): Promise<number> {
  await team.delivered();
  const before = await team.rowsWritten();
  await team.finished((await team.start(null)).id);
  await team.delivered();
  return (await team.rowsWritten()) - before;
}

async function rowsPerTurn(agents: number, warmUpTurns: number): Promise<number> {
  const names = Array.from({ length: agents }, (_, index) => `agent_${index}`);
  const team = await TestTeam.create(
    roundRobin(
      names.map((name) => assistant(name)),
      warmUpTurns,
    ),
  );
  await team.finished((await team.start("go")).id);
  const one = await withMaxTurns(team, names, 1);
  const eleven = await withMaxTurns(team, names, 11);
  return (eleven - one) / 10;
}

async function withMaxTurns(team: TestTeam, names: string[], turns: number): Promise<number> {
  value(
    await team.gateway.replaceComponent(
      roundRobin(
        names.map((name) => assistant(name)),
        turns,
      ),
    ),
  );
  return rowsOfRun(team);
}

/** Bytes of all columns of a table. */
async function bytesOf(team: TestTeam, table: string): Promise<number> {
  const columns = await team.sql<{ name: string }>(
    `select name from pragma_table_info('${table}')`,
  );
  const lengths = columns.map(({ name }) => `coalesce(length(cast(${name} as blob)), 0)`);
  const [row] = await team.sql<{ bytes: number }>(
    `select sum(${lengths.join(" + ")}) as bytes from ${table}`,
  );
  return row?.bytes ?? 0;
}

/** Bytes that a turn adds to the tables, over those of its message's JSON. */
async function bytesPerTurn(reply: string): Promise<number> {
  const team = await TestTeam.create(
    roundRobin([assistant("writer", reply), assistant("critic", reply)], 12),
  );
  await team.finished((await team.start("go")).id);
  const written = async (): Promise<number> => {
    let bytes = 0;
    for (const table of ["event", "log", "head"]) bytes += await bytesOf(team, table);
    return bytes;
  };
  const before = await written();
  const { id } = await team.start(null);
  await team.finished(id);
  const [message] = await team.sql<{ bytes: number }>(
    "select length(body) as bytes from event where kind = 'message' order by seq desc limit 1",
  );
  return ((await written()) - before) / 12 / (message?.bytes ?? 0);
}

describe("the rows of a team", () => {
  test("hold a message once: a turn has at most 2.2 times the bytes of a message of 1,000 characters", async () => {
    expect(await bytesPerTurn("word ".repeat(200))).toBeLessThanOrEqual(2.2);
  });

  test("are four for a plain turn, and one for the model context", async () => {
    expect(await rowsPerTurn(1, 2)).toBe(5);
  });

  test("are the same in a long conversation", async () => {
    expect(await rowsPerTurn(2, 1000)).toBe(await rowsPerTurn(2, 4));
  });

  test("hold some 200 bytes for the step of a plain turn, in a long conversation, too", async () => {
    const team = await TestTeam.create(roundRobin([assistant("a"), assistant("b")], 400));
    await team.finished((await team.start("go")).id);
    const rows = await team.sql<{ bytes: number }>(
      "select length(cast(steps as blob)) as bytes from head where steps is not null order by turn",
    );
    expect(rows).toHaveLength(400);
    const [first, last] = [rows[0]?.bytes ?? 0, rows.at(-1)?.bytes ?? 0];
    expect(first).toBeLessThan(220);
    // The count of tokens and the time have more digits.
    expect(last - first).toBeLessThan(10);
  });

  test("are six for a run with one turn besides the turn's, and those of its tenant's list", async () => {
    const team = await TestTeam.create(roundRobin([assistant("a")], 1));
    // The run's row and its index; the head after the task; the result, the run's outcome and the team's usage.
    // Its start and end are delivered together: one entry, which the end replaces, and its removal.
    expect(await rowsOfRun(team)).toBe(6 + 5 + 3);
  });

  test("are none for a team that does not exist", async () => {
    const team = new TestTeam();
    expect(await team.gateway.team()).toMatchObject({
      ok: false,
      problem: { status: 404, code: "team_not_found" },
    });
    expect(await team.gateway.messages({ limit: 1 })).toMatchObject({ ok: false });
    expect(await team.gateway.stream({ run: null, after: 0 })).toMatchObject({
      ok: false,
      problem: { code: "team_not_found" },
    });
    expect(
      await team.sql("select name from sqlite_master where name not like '\\_%' escape '\\'"),
    ).toEqual([]);
  });
});

/** The tables of the team that queries read during `work`, in order. */
async function readsDuring({ stub }: TestTeam, work: () => Promise<unknown>): Promise<string[]> {
  const reads: string[] = [];
  const prototype = await runInDurableObject(stub, (_instance, { storage: { sql } }) => {
    return Object.getPrototypeOf(sql) as SqlStorage;
  });
  const exec = Object.getOwnPropertyDescriptor(prototype, "exec");
  if (exec === undefined) throw new TypeError("the runtime's SqlStorage has no exec");
  const original = exec.value as SqlStorage["exec"];
  const noting = function (this: SqlStorage, ...call: Parameters<SqlStorage["exec"]>) {
    const table = /^select .* from (run|event|meta|step|head|log)\b/s.exec(call[0])?.[1];
    if (table !== undefined) reads.push(table);
    return original.apply(this, call);
  };
  Object.defineProperty(prototype, "exec", { ...exec, value: noting });
  try {
    await work();
  } finally {
    Object.defineProperty(prototype, "exec", exec);
  }
  return reads;
}

test("a run of a team in memory reads nothing twice", async () => {
  const team = await TestTeam.create(roundRobin([assistant("a")], 1));
  await team.finished((await team.start("go")).id);
  await team.delivered();
  const reads = await readsDuring(team, async () => {
    await team.finished((await team.start("go")).id);
    await team.delivered();
  });
  // The ids of the result.
  const end = ["event"];
  // The client that waits gets the run with its task and its result.
  const shown = ["run", "run", "event", "event"];
  expect(reads).toEqual([...end, ...shown]);
});

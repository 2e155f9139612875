import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { RuleInput } from "../support/fake-openai/rule.ts";
import type { Place } from "./harness/place.ts";
import { Service } from "./harness/service.ts";
import { DEADLINE_MS } from "./harness/trial.ts";
import { type Frame, readStream } from "./harness/sse-client.ts";
import { StreamRecord } from "./harness/stream-record.ts";
import type { Case } from "./runner.ts";
import { assistant, person, roundRobin, STREAMING } from "./scenarios/components.ts";

const READERS = 200;
/** A reader may be at most 1 MB behind; this much is sent to one that reads nothing. */
const FLOOD_WORDS = 40_000;
/** Longer than the idle lifetime of an object without requests. */
const SLOW_MODEL_MS = 155_000;
/** An object whose streams hibernate is unloaded after ten seconds without a request. */
const UNLOADED_MS = 13_000;
/** In which the output of the service has arrived. */
const SEEN_MS = 500;
/** No alarm loads the object again before that. */
const NO_ALARM_MS = 600_000;
/** Clients of a run that waits for a human. */
const WAITING_READERS = 20;

/** What clients see of a run over real connections. */
export function streamCases(place: Place, long: boolean): Case[] {
  const named = (name: string, run: (place: Place) => Promise<string[]>): Case => ({
    name: `streams: ${name}`,
    run: () => run(place),
  });
  return [
    named("a client that comes back at every position gets the rest", comeBackAnywhere),
    named("a client that comes in the middle of a text sees all of it once", comeInTheMiddle),
    named(`${READERS} clients of one team see the same`, manyReaders),
    named("a client that never reads does not slow the run", neverReads),
    named("a client that leaves at once does not stop the run", (where) => leaveAtOnce(where, 300)),
    named("clients of a run that waits see all of it once, its object unloaded", waitUnloaded),
    ...(long
      ? [named("a run goes on for minutes alone", (where) => leaveAtOnce(where, SLOW_MODEL_MS))]
      : []),
  ];
}

/** A service with a team of one streaming agent that speaks `turns` times. */
async function start(
  place: Place,
  turns: number,
  rule: { words: number } & Omit<RuleInput, "name" | "reply">,
): Promise<Service> {
  const { words, ...rest } = rule;
  const service = await Service.start(place, [{ name: "words", reply: { words }, ...rest }]);
  const team = roundRobin(
    [assistant({ model: service.fake.url }, "speaker", { model_client_stream: true })],
    turns,
  );
  await service.api.createTeam(team);
  return service;
}

async function comeBackAnywhere(place: Place): Promise<string[]> {
  await using service = await start(place, 4, { words: 5 });
  const { id } = await service.api.startRun("Speak.");
  const whole = new StreamRecord();
  await readStream(service.events(id), { onFrame: (frame) => whole.add(frame) });
  const problems = [...whole.problems];
  const all = whole.recorded;
  if (!whole.ended) problems.push("the stream ended without a terminal frame");
  for (const [index, { id: cursor = 0 }] of all.entries()) {
    const rest: Frame[] = [];
    const status = await readStream(service.events(id), {
      lastEventId: cursor,
      onFrame: (frame) => {
        if (frame.id !== undefined) rest.push(frame);
      },
    });
    const expected = all.slice(index + 1);
    if (JSON.stringify(rest) !== JSON.stringify(expected))
      problems.push(`after ${cursor} came ${JSON.stringify(rest)}`);
    if (status !== (expected.length > 0 ? 200 : 204))
      problems.push(`after ${cursor} the status was ${status}`);
  }
  return problems;
}

async function comeInTheMiddle(place: Place): Promise<string[]> {
  await using service = await start(place, 1, { words: 60, hold: true, hold_after: [20] });
  const { id } = await service.api.startRun("Speak.");
  const early = new StreamRecord();
  const late = new StreamRecord();
  let snapshots = 0;
  const written = Promise.withResolvers<void>();
  const first = readStream(service.events(id), {
    onFrame: (frame) => {
      early.add(frame);
      if (frame.data.full_message_id !== undefined) written.resolve();
    },
  });
  await Promise.race([written.promise, first]);
  const second = readStream(service.events(id), {
    onFrame: (frame) => {
      if (frame.event === "snapshot") snapshots++;
      if (frame.event === "caught_up") service.fake.release("words");
      late.add(frame);
    },
  });
  await Promise.all([first, second]);
  const problems = [...early.problems, ...late.problems];
  if (snapshots !== 1) problems.push(`${snapshots} snapshots, 1 expected`);
  if (early.texts !== 1 || late.texts !== 1)
    problems.push(`complete texts seen: ${early.texts} and ${late.texts}, 1 each expected`);
  return problems;
}

async function manyReaders(place: Place): Promise<string[]> {
  await using service = await start(place, 3, { words: 30, pace_ms: 5 });
  const { id } = await service.api.startRun("Speak.");
  const records = Array.from({ length: READERS }, () => new StreamRecord());
  await Promise.all(
    records.map((record) =>
      readStream(service.events(id), { onFrame: (frame) => record.add(frame) }),
    ),
  );
  const seen = new Set(records.map(({ recorded }) => JSON.stringify(recorded)));
  return [
    ...records.flatMap(({ problems }) => problems).slice(0, 5),
    ...(seen.size === 1 ? [] : [`${seen.size} different streams were seen`]),
    ...(records.every(({ ended }) => ended) ? [] : ["not every stream ended"]),
  ];
}

async function neverReads(place: Place): Promise<string[]> {
  await using service = await start(place, 1, { words: FLOOD_WORDS, batch: 100 });
  const { id } = await service.api.startRun("Speak.");
  const { hostname, port, pathname } = new URL(service.events(id));
  const socket = connect(Number(port), hostname);
  socket.pause();
  socket.write(`GET ${pathname} HTTP/1.1\r\nhost: ${hostname}:${port}\r\n\r\n`);
  const run = await service.api.waitForRun(id, DEADLINE_MS / 1000);
  const problems = run.status === "completed" ? [] : [`the run is ${run.status}`];
  socket.destroy();
  const later = new StreamRecord();
  await readStream(service.events(id), { onFrame: (frame) => later.add(frame) });
  if (!later.ended || later.problems.length > 0)
    problems.push("coming back it did not get the rest", ...later.problems);
  return problems;
}

async function leaveAtOnce(place: Place, modelMs: number): Promise<string[]> {
  await using service = await start(place, 2, { words: 3, delay_ms: modelMs });
  const leaving = new AbortController();
  await readStream(`${service.api.teamUrl}/runs`, {
    post: { task: "Speak." },
    onFrame: () => leaving.abort(),
    signal: leaving.signal,
  }).catch(() => undefined);
  await service.fake.log.until(
    (requests) => requests.length === 2 && requests.every(({ state }) => state === "done"),
    2 * modelMs + DEADLINE_MS,
  );
  const [started] = await service.api.runs();
  const run = started && (await service.api.waitForRun(started.id, DEADLINE_MS / 1000));
  return run?.status === "completed" ? [] : [`the run is ${run?.status}`];
}

/**
 * A run asks twice, and is answered each time after its object was unloaded: the first time the clients are still connected,
 * the second time the service was killed meanwhile, too.
 */
async function waitUnloaded(place: Place): Promise<string[]> {
  let constructed = 0;
  await using service = await Service.start(
    place,
    [{ name: "words", reply: { words: 20 }, pace_ms: 5 }],
    {
      heartbeatMs: NO_ALARM_MS,
      onMarker: ({ kind }) => {
        if (kind === "constructed") constructed++;
      },
    },
  );
  const { api } = service;
  await api.createTeam(
    roundRobin([assistant({ model: service.fake.url }, "speaker", STREAMING), person("person")], 4),
  );
  const { id } = await api.startRun("Speak.");
  const records = Array.from({ length: WAITING_READERS }, () => new StreamRecord());
  const reading = Promise.all(records.map((record) => follow(service, id, record)));
  let answered = "";
  for (const kills of [false, true]) {
    const question = await nextQuestion(service, id, answered);
    await untilUnloaded(service, () => constructed);
    if (kills) await service.restart();
    await api.answer(id, question, { content: "Go on." });
    answered = question;
  }
  await reading;
  const seen = new Set(records.map(({ recorded }) => JSON.stringify(recorded)));
  const problems = seen.size === 1 ? [] : [`${seen.size} different streams were seen`];
  return [...problems, ...records.flatMap((record) => record.problems).slice(0, 5)];
}

/** Waits until a request finds the object unloaded, which takes longer on a machine that does much else. */
async function untilUnloaded(service: Service, constructed: () => number): Promise<void> {
  const before = constructed();
  for (let ms = UNLOADED_MS; constructed() === before; ms *= 2) {
    await sleep(ms);
    await service.api.runs();
    await sleep(SEEN_MS);
  }
}

/** The id of the question that the run asks after this one. */
async function nextQuestion(service: Service, run: string, answered: string): Promise<string> {
  for (;;) {
    const [request] = (await service.api.run(run)).requests;
    if (request !== undefined && request.id !== answered) return request.id;
    await sleep(20);
  }
}

/** Reads the stream of a run to its end, over as many connections as it takes. */
async function follow(service: Service, run: string, record: StreamRecord): Promise<void> {
  while (!record.ended) {
    const { cursor } = record;
    record.connected();
    await readStream(service.events(run), {
      ...(cursor !== undefined && { lastEventId: cursor }),
      onFrame: (frame) => record.add(frame),
    }).catch(() => sleep(100));
  }
}

import { expect, test } from "vitest";
import { loadSpans, storeSpans, type TurnSpan } from "#telemetry/spans/stored-spans.ts";

const STARTED = 1_795_383_091_731;

const AGENT: TurnSpan = {
  kind: "agent",
  path: "speaker:writer",
  start: STARTED,
  end: STARTED + 950,
  name: "writer",
  provider: null,
  attempts: 1,
  failed: [],
  tokens: null,
  error: null,
  recovered: false,
  discarded: false,
};

const CHAT: TurnSpan = {
  ...AGENT,
  kind: "model",
  path: "speaker:writer/model:0",
  start: STARTED + 3,
  name: "gpt-4o-mini",
  provider: "openai",
  tokens: { prompt_tokens: 1_021, completion_tokens: 88 },
};

test("stored spans keep their contents, in a few dozen bytes each", () => {
  const stored = storeSpans({ spans: [AGENT, CHAT], dropped: 0 }, STARTED);
  expect(loadSpans(stored, STARTED)).toEqual({ spans: [AGENT, CHAT], dropped: 0 });
  expect(JSON.stringify(stored).length).toBeLessThan(100);
});

test("stored spans may have all fields", () => {
  const spans: TurnSpan[] = [
    // The agent of a run of its own: in the turn's own scope.
    { ...AGENT, path: "", name: "solo" },
    { ...CHAT, path: "model:0", discarded: true },
    { ...CHAT, path: "model:0", attempts: 3, error: "model_auth", recovered: true },
    {
      ...AGENT,
      kind: "tool",
      path: "tool:0:0",
      name: "helper",
      failed: [
        { attempt: 1, start: STARTED, end: STARTED + 20, error: "timeout", next: STARTED + 820 },
        // An earlier version did not record the wait.
        { attempt: 2, start: STARTED + 820, end: STARTED + 840, error: "timeout" },
        {
          attempt: 9,
          start: STARTED + 900,
          end: STARTED + 940,
          error: "timeout",
          next: STARTED + 990,
        },
      ],
      attempts: 10,
    },
    { ...AGENT, path: "tool:0:0/turn:1", name: "helper" },
    { ...AGENT, kind: "wait", path: "tool:0:0/turn:1/ask:1a2b3c4d", name: "human" },
    { ...AGENT, kind: "effect", path: "work", name: null },
  ];
  const stored = storeSpans({ spans, dropped: 7 }, STARTED);
  const json = JSON.parse(JSON.stringify(stored)) as typeof stored;
  expect(loadSpans(json, STARTED)).toEqual({ spans, dropped: 7 });
});

test("a turn without spans uses no space", () => {
  expect(storeSpans({ spans: [], dropped: 0 }, STARTED)).toBeUndefined();
  expect(loadSpans(undefined, STARTED)).toEqual({ spans: [], dropped: 0 });
});

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { StreamFrame } from "#contract/stream/stream-frame.ts";
import { answersIn } from "#api/protocols/ai-sdk/answers.ts";
import type { PartMetadata } from "#api/protocols/ai-sdk/encoder/chunk.ts";
import { parseChat } from "#api/protocols/ai-sdk/chat-request.ts";
import { makeChatEncoder } from "#api/protocols/ai-sdk/encoder/encoder.ts";
import type { ChatStreamOptions } from "#api/protocols/ai-sdk/encoder/format.ts";
import type { RunItem } from "#api/protocols/shared/run-item.ts";
import { RunProjector } from "#api/protocols/shared/run-projector.ts";
import { toText } from "#core/messages/views.ts";
import {
  encodedOverPauses,
  frames,
  isEnd,
  stories,
  type Story,
  streamOf,
} from "../../support/frames.ts";
import { APPROVING, parse, type Read, read, type SdkName, SDKS } from "../support/sdks.ts";
import type {
  DynamicToolUIPart,
  ReasoningUIPart,
  TextUIPart,
  UIMessage,
} from "../../../../peers/ai-sdk.ts";
import { casesOf } from "../../../../support/samples.ts";

interface Encoded {
  text: string;
  ended: boolean;
  /** How many frames it took. */
  taken: number;
}

function encode(stream: readonly StreamFrame[], options: ChatStreamOptions): Encoded {
  const encoder = makeChatEncoder({ ...options });
  let text = "";
  let taken = 0;
  for (const frame of stream) {
    if (encoder.ended) break;
    text += encoder.encode(frame);
    taken++;
  }
  return { text, ended: encoder.ended, taken };
}

async function readAll(name: SdkName, text: string, message?: UIMessage): Promise<Read> {
  return read(name, await parse(name, text), message);
}

/** The SDK complains about nothing but what the stream calls an error. */
function expectLegal({ chunks, errors }: Read): void {
  expect(errors).toEqual(
    chunks.flatMap((chunk) => (chunk.type === "error" ? [chunk.errorText] : [])),
  );
}

function toolsOf(message: UIMessage | undefined): DynamicToolUIPart[] {
  return (message?.parts ?? []).filter((part) => part.type === "dynamic-tool");
}

/**
 * The parts of a message without its steps, without calls that were asked about and that the log does not have, and without those that
 * another client has run, which have no result yet.
 */
function contentOf({ message }: Read): unknown {
  return (message?.parts ?? []).filter(
    (part) =>
      part.type !== "step-start" &&
      !(
        part.type === "dynamic-tool" &&
        (part.toolCallId.startsWith("call_m") || OPEN.includes(part.state) || part.output === null)
      ),
  );
}

const OPEN = ["input-streaming", "input-available", "approval-requested", "approval-responded"];

// Version 5 knows no approvals, which any run may ask for.
describe.each(APPROVING)("the reader of %s", (name) => {
  const { lastAssistantMessageIsCompleteWithApprovalResponses: approvals } = SDKS[name];
  const { lastAssistantMessageIsCompleteWithToolCalls: results } = SDKS[name];
  const sendsAgain = (message: UIMessage): boolean =>
    approvals!({ messages: [message] }) || results({ messages: [message] });

  test.each<ChatStreamOptions["part"]>(["new", "replay"])(
    "reads all events of a run: %s",
    async (part) => {
      await fc.assert(
        fc.asyncProperty(frames, async (stream) => {
          const { text, ended } = encode(stream, { part });
          const all = await readAll(name, text);
          expectLegal(all);
          expect(text.endsWith("data: [DONE]\n\n")).toBe(ended);
          if (stream.some(isEnd)) expect(ended).toBe(true);
          if (!ended || all.message === undefined) return;
          // The run is over, so that nothing is left to do for the client.
          if (all.message.metadata && statusOf(all.message) === "waiting") return;
          for (const { state } of toolsOf(all.message)) expect(OPEN).not.toContain(state);
          expect(sendsAgain(all.message)).toBe(false);
        }),
      );
    },
    60_000,
  );

  test("reads the same if another encoder continues after each pause", async () => {
    await fc.assert(
      fc.asyncProperty(stories, async (story) => {
        const text = encodedOverPauses(story, () => makeChatEncoder({ part: "new" }));
        const all = await readAll(name, text);
        expectLegal(all);
        const whole = await readAll(name, encode(streamOf(story, 0), { part: "new" }).text);
        expect(contentOf(all)).toEqual(contentOf(whole));
      }),
      { numRuns: casesOf(200) },
    );
  });

  test("continues in a message whose questions are answered", async () => {
    let answered = 0;
    await fc.assert(
      fc.asyncProperty(stories, fc.array(fc.boolean()), async (story, verdicts) => {
        const first = encode(streamOf(story, 0), { part: "new" });
        // The opening frame and the one that everything recorded was sent.
        const joined = happeningsOf(story, first.taken - 2);
        const run = story.happenings[joined - 1]?.run;
        if (!first.ended || run?.status !== "waiting") return;
        const { message } = await readAll(name, first.text);
        const replied = withAnswers(message!, verdicts);
        const body = { id: "chat", messages: [replied], messageId: replied.id };
        const { answers, options } = answersIn(parseChat(body).message, run.requests);
        if (answers.length === 0) return;
        answered++;
        const rest = streamOf(story, joined, Number.MAX_SAFE_INTEGER);
        const { text, ended } = encode(rest, options);
        const all = await readAll(name, text, replied);
        expectLegal(all);
        expect(all.message?.id).toBe(message?.id);
        if (!ended || statusOf(all.message!) === "waiting") return;
        for (const { state } of toolsOf(all.message)) expect(OPEN).not.toContain(state);
        expect(sendsAgain(all.message!)).toBe(false);
      }),
      { numRuns: casesOf(500) },
    );
    expect(answered).toBeGreaterThan(casesOf(5));
  });
});

test("the encoder shows all messages of agents, and their calls with the results", async () => {
  await fc.assert(
    fc.asyncProperty(frames, async (stream) => {
      const { text, taken } = encode(stream, { part: "new" });
      const { message } = await readAll("ai 7", text);
      const texts = (message?.parts ?? []).flatMap((part) =>
        part.type === "text" && !isVoid(part) ? [part.text] : [],
      );
      for (const item of itemsOf(stream.slice(0, taken))) {
        if (item.type === "message" && item.role === "agent") {
          const { message: said } = item;
          if (said.type !== "MultiModalMessage" && toText(said) !== "")
            expect(texts).toContain(toText(said));
        }
        if (item.type === "tool_results") {
          const shown = toolsOf(message).map(({ output, errorText }) => output ?? errorText);
          for (const { content } of item.results) expect(shown).toContain(content);
        }
      }
    }),
  );
});

test("the encoder shows the same to a client that connects later", async () => {
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(stories, fc.nat(60), async (story, later) => {
      const { happenings } = story;
      const joined = Math.min(later, happenings.length);
      const all = streamOf(story, 0);
      const [live, replayed] = [
        encode(all, { part: "new" }),
        encode(streamOf(story, joined), { part: "replay" }),
      ];
      // One message: until it asks, and without a user's answer in between.
      const answers = itemsOf(all).some((item) => item.type === "message" && item.role === "human");
      // Made-up turns that are given up keep their questions, and calls have ids again.
      const givenUp = all.some(({ event }) => event === "retract");
      if (answers || givenUp || live.taken < all.length) return;
      compared++;
      const [one, other] = [await readAll("ai 7", live.text), await readAll("ai 7", replayed.text)];
      // Texts that came to nothing are not told again; those written at the same time begin in another order.
      const seen = keptOf(one.message);
      for (const part of keptOf(other.message)) {
        // A call that another client has run has no result yet, and an empty one beside a question for approval.
        if (Array.isArray(part) && part[1] === null) continue;
        expect(seen).toContainEqual(part);
      }
    }),
    { numRuns: casesOf(300) },
  );
  expect(compared).toBeGreaterThan(casesOf(20));
});

function itemsOf(stream: readonly StreamFrame[]): RunItem[] {
  const projector = new RunProjector();
  return stream.flatMap((frame) => projector.take(frame));
}

type Metadata = { troupe?: PartMetadata["troupe"] } | undefined;

function isVoid({ providerMetadata }: TextUIPart | ReasoningUIPart): boolean {
  return (providerMetadata as Metadata)?.troupe?.void === true;
}

/** What stays of a message whose writing no client has seen. */
function keptOf(message: UIMessage | undefined): unknown[] {
  const parts = (message?.parts ?? []).flatMap((part): unknown[] => {
    switch (part.type) {
      // A thought that was written as a text first comes as a thought later.
      case "text":
      case "reasoning":
        return isVoid(part) || part.state !== "done" ? [] : [part.text.replace(/\n?<image>$/, "")];
      case "dynamic-tool":
        return part.state === "output-available" ? [[part.toolName, part.output]] : [];
      // Questions are sent as long as they are open.
      case "step-start":
      case "data-question":
        return [];
      default:
        return [part];
    }
  });
  return [message?.id, statusOf(message!), ...parts];
}

function statusOf({ metadata }: UIMessage): string | undefined {
  return (metadata as { run?: { status: string } } | undefined)?.run?.status;
}

/** How much has happened after a number of frames: not all that happens is sent. */
function happeningsOf({ happenings }: Story, taken: number): number {
  let left = taken;
  const index = happenings.findIndex(({ frame }) => frame !== undefined && --left === 0);
  return index + 1;
}

/** A message in which its user has decided, and the client has run its tools. */
function withAnswers(message: UIMessage, verdicts: readonly boolean[]): UIMessage {
  let count = 0;
  const parts = message.parts.map((part) => {
    if (part.type !== "dynamic-tool") return part;
    const approved = verdicts[count++] ?? true;
    if (part.state === "approval-requested")
      return { ...part, state: "approval-responded", approval: { ...part.approval, approved } };
    return part.state === "input-available" && part.providerExecuted === false
      ? { ...part, state: "output-available", output: { found: approved } }
      : part;
  });
  return { ...message, parts } as UIMessage;
}

import { createParser } from "eventsource-parser";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { EventParser, type Retry, type ServerEvent } from "#client/event-parser.ts";

function parsed(pieces: readonly string[]): (ServerEvent | Retry)[] {
  const parser = new EventParser();
  return pieces.flatMap((piece) => [...parser.feed(piece)]);
}

function parsedByLibrary(text: string): (ServerEvent | Retry)[] {
  const events: (ServerEvent | Retry)[] = [];
  const parser = createParser({
    onEvent: (event) => events.push(event),
    onRetry: (retry) => events.push({ retry }),
  });
  parser.feed(text);
  return events;
}

const line = fc.oneof(
  fc.constantFrom("", "", "data", "data:", "data: ", "id", "id:", ": a comment", ":", "event:"),
  fc.constantFrom("retry: 1500", "retry: soon", "retry:", "id: 7\0", "other: field", " data: x"),
  fc
    .tuple(fc.constantFrom("data", "id", "event"), fc.constantFrom(":", ": ", ":  "), fc.string())
    .map(([name, colon, value]) => name + colon + value.replaceAll(/[\r\n]/g, "")),
);
const text = fc
  .array(fc.tuple(line, fc.constantFrom("\n", "\r\n", "\r")))
  .map((lines) => `${lines.map((parts) => parts.join("")).join("")}\n\n`);

test("events are those of the library, in whatever pieces they come", () => {
  fc.assert(
    fc.property(text, fc.array(fc.nat(30)), (all, sizes) => {
      const pieces: string[] = [];
      let rest = all;
      for (const size of sizes) {
        pieces.push(rest.slice(0, size));
        rest = rest.slice(size);
      }
      expect(parsed([...pieces, rest])).toEqual(parsedByLibrary(all));
    }),
    { numRuns: 1_000 },
  );
});

test("a line of many pieces is not searched again with each of them", () => {
  const piece = "x".repeat(1_000);
  const pieces = Array.from({ length: 20_000 }, () => piece);
  const [event] = parsed(["data: ", ...pieces, "\n\n"]);
  expect((event as ServerEvent).data).toHaveLength(20_000_000);
});

import type * as z from "zod";
import {
  FULL_STATE_PART_BYTES,
  MAX_STATE_LINE_BYTES,
  MAX_STATE_PART_BYTES,
  MOST_STATE_PARTS,
} from "../../../contract/constants.ts";
import type { StateGateway, StatePage } from "../../../contract/gateways/state-gateway.ts";
import {
  type StagedState,
  type StatePartEnd,
  type StatePartHeader,
  statePartEndSchema,
  statePartHeaderSchema,
} from "../../../contract/team/state-parts.ts";
import { issuesOf } from "../../../core/issues.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { statePartCommands } from "../../../contract/commands/state-parts.ts";
import { commandEndpoints } from "../endpoint/command-endpoints.ts";
import { type Endpoint, json } from "../endpoint/endpoint.ts";
import { readLines } from "../input/lines.ts";
import { invalid, ProblemError, unwrap } from "../endpoint/problem.ts";
import type { Services } from "../endpoint/services.ts";

/** Lines that are sent to the team's object at once. */
const BATCH_CHARACTERS = 1_000_000;

/** The state of a team in parts: for states that are too large for one document. */
export function statePartEndpoints(services: Services): Endpoint[] {
  return commandEndpoints(statePartCommands, services, {
    async getStatePart({ team, query }) {
      const { cursor = null, part = 1 } = query;
      const first = unwrap(await team.statePage(cursor));
      return new Response(partStream(team, first, { part, cursor }), {
        headers: { "content-type": "application/x-ndjson", "cache-control": "no-store" },
      });
    },

    async putStatePart({ team, param, c }) {
      const part = partNumber(param("part"));
      return json(await stagePart(team, part, c.req.raw));
    },
  });
}

/** The lines of a part, a page of rows at a time. */
function partStream(
  team: StateGateway,
  first: StatePage,
  { part, cursor }: Pick<StatePartHeader, "part" | "cursor">,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let page: StatePage | undefined;
  let next: string | null = null;
  let [bytes, lines, hash] = [0, 0, ""];
  const encode = async (added: readonly string[]): Promise<Uint8Array> => {
    for (const line of added) hash = await chain(hash, line);
    const chunk = encoder.encode(added.map((line) => `${line}\n`).join(""));
    bytes += chunk.byteLength;
    return chunk;
  };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (page === undefined) {
        page = first;
        const { state, turn, cancelled } = first;
        const header: StatePartHeader = {
          type: "troupe.state",
          version: 1,
          state,
          turn,
          cancelled,
          part,
          cursor,
        };
        controller.enqueue(await encode([JSON.stringify(header), ...first.lines]));
      } else if (next === null || bytes >= FULL_STATE_PART_BYTES) {
        const end: StatePartEnd = { type: "end", lines, hash, next_cursor: next };
        controller.enqueue(encoder.encode(`${JSON.stringify(end)}\n`));
        controller.close();
        return;
      } else {
        page = unwrap(await team.statePage(next));
        controller.enqueue(await encode(page.lines));
      }
      lines += page.lines.length;
      next = page.next;
    },
  });
}

/** Stages the lines of a body while they arrive. @throws ProblemError */
async function stagePart(team: StateGateway, part: number, request: Request): Promise<StagedState> {
  let attempt: string | undefined;
  let batch: string[] = [];
  let [characters, hash] = [0, ""];
  /** The last line is not a row. */
  let last: string | undefined;
  const send = async (): Promise<void> => {
    if (batch.length > 0 && attempt !== undefined) unwrap(await team.addStateLines(attempt, batch));
    [batch, characters] = [[], 0];
  };
  for await (const line of readLines(request, {
    bytes: MAX_STATE_PART_BYTES,
    line: MAX_STATE_LINE_BYTES,
  })) {
    if (attempt === undefined) {
      const header = parseLine(statePartHeaderSchema, line, "the first line");
      if (header.part !== part) throw wrong("part", `is ${header.part}; the path says ${part}`);
      attempt = unwrap(await team.beginStatePart(header));
      hash = await chain(hash, line);
      continue;
    }
    if (last !== undefined) {
      hash = await chain(hash, last);
      batch.push(last);
      characters += last.length;
      if (characters >= BATCH_CHARACTERS) await send();
    }
    last = line;
  }
  if (attempt === undefined || last === undefined)
    throw wrong("body", "has no lines of a part; it may be cut off");
  const end = parseLine(statePartEndSchema, last, "the last line");
  if (end.hash !== hash)
    throw wrong("hash", "is not that of the lines: the part was changed, or is cut off");
  await send();
  return unwrap(await team.endStatePart(attempt, end));
}

function partNumber(text: string): number {
  const part = Number(text);
  if (Number.isInteger(part) && part >= 1 && part <= MOST_STATE_PARTS) return part;
  throw new ProblemError({
    status: 404,
    code: "part_not_found",
    detail: `Parts have numbers from 1 to ${MOST_STATE_PARTS}, not ${JSON.stringify(text)}.`,
  });
}

function chain(hash: string, line: string): Promise<string> {
  return sha256Hex(hash + line);
}

function parseLine<T>(schema: z.ZodType<T>, line: string, what: string): T {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw wrong(what, "is not JSON; the part may be cut off");
  }
  const { data, error } = schema.safeParse(value);
  if (error === undefined) return data;
  throw invalid("invalid_state", `${what} is invalid.`, issuesOf(error, what));
}

function wrong(path: string, message: string): ProblemError {
  return invalid("invalid_state", `${path} ${message}.`, [{ path, message }]);
}

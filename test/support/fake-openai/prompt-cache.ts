import { createHash } from "node:crypto";

/** What a model server's cache did for a request, in tokens. */
export interface CacheUse {
  /** Tokens of the whole prompt. */
  prompt: number;
  read: number;
  written: number;
}

/** A model server's cache of the beginnings of prompts. */
export interface PromptCache {
  /** @param now epoch milliseconds */
  use(body: unknown, now: number): CacheUse;
}

const MINUTE_MS = 60_000;
const CHARACTERS_PER_TOKEN = 4;

type Json = { [name: string]: unknown };

/**
 * OpenAI's: prompts of at least 1,024 tokens, in steps of 128, for up to an hour and dropped after five to ten minutes
 * without use; a cache belongs to a model and, where it is given, to a `prompt_cache_key`. Requests mark nothing.
 * https://platform.openai.com/docs/guides/prompt-caching
 */
export class OpenAIPromptCache implements PromptCache {
  readonly #until = new Map<string, number>();

  use(body: unknown, now: number): CacheUse {
    const request = body as Json;
    const { model, tools, text, response_format, instructions, messages, input } = request;
    const schema = text ?? response_format ?? null;
    const start = JSON.stringify([model, request["prompt_cache_key"] ?? null]);
    const items = [tools ?? null, schema, instructions ?? null, ...list(messages ?? input)];
    const prompt = items.map((item) => JSON.stringify(item)).join("\n");
    const total = tokens(prompt);
    let read = 0;
    for (let end = 1024; end <= total; end += 128) {
      const key = hash(start + prompt.slice(0, end * CHARACTERS_PER_TOKEN));
      if ((this.#until.get(key) ?? 0) > now) read = end;
      this.#until.set(key, now + 5 * MINUTE_MS);
    }
    // Only the newest models charge for writes, and say so.
    const written = /^gpt-5\.[6-9]/.test(String(model)) && total >= 1024 ? total - read : 0;
    return { prompt: total, read, written };
  }
}

/** Blocks before a breakpoint in which the server looks for the end of an earlier one. */
const LOOK_BACK = 20;

/**
 * Claude's: prompts up to the breakpoints that requests mark, of at least 1,024 tokens (4,096 for Opus and Haiku of the
 * fourth generation), for five minutes or an hour after the last use. A read looks back from each breakpoint, 20 blocks
 * at most. https://platform.claude.com/docs/en/build-with-claude/prompt-caching
 */
export class ClaudePromptCache implements PromptCache {
  readonly #until = new Map<string, number>();

  use(body: unknown, now: number): CacheUse {
    const request = body as Json;
    const blocks = claudeBlocks(request);
    const marks = blocks.flatMap(({ ttl }, index) => (ttl === undefined ? [] : [index]));
    const least = /^claude-(opus|haiku)-4/.test(String(request["model"])) ? 4096 : 1024;
    const ends: { key: string; tokens: number }[] = [];
    let sum = 0;
    let key = JSON.stringify([request["model"], request["thinking"] ?? null]);
    for (const { text } of blocks) {
      sum += tokens(text);
      key = hash(key + text);
      ends.push({ key, tokens: sum });
    }
    let read = 0;
    for (const mark of marks) {
      for (let index = mark; index >= 0 && index > mark - LOOK_BACK; index--) {
        const end = ends[index] as { key: string; tokens: number };
        if ((this.#until.get(end.key) ?? 0) <= now) continue;
        read = Math.max(read, end.tokens);
        this.#keep(end.key, blocks[mark]?.ttl, now);
        break;
      }
    }
    let written = 0;
    for (const mark of marks) {
      const end = ends[mark] as { key: string; tokens: number };
      if (end.tokens < least) continue;
      written = Math.max(written, end.tokens - read);
      this.#keep(end.key, blocks[mark]?.ttl, now);
    }
    return { prompt: sum, read, written };
  }

  #keep(key: string, ttl: string | undefined, now: number): void {
    this.#until.set(key, now + (ttl === "1h" ? 60 : 5) * MINUTE_MS);
  }
}

/** The parts of a prompt in their order: tools, system, messages. `ttl` of those that are breakpoints. */
function claudeBlocks({ tools, system, messages, cache_control: last }: Json) {
  const contents = list(messages).flatMap((message) => {
    const { role, content } = message as { role: string; content: unknown };
    return texts(content).map((block): Json => ({ role, ...block }));
  });
  const blocks = [...list(tools), ...texts(system), ...contents] as Json[];
  if (last !== undefined && blocks.length > 0) {
    blocks.push({ ...blocks.pop(), cache_control: last });
  }
  return blocks.map(({ cache_control: mark, ...block }) => ({
    text: JSON.stringify(block),
    ttl: mark === undefined ? undefined : ((mark as { ttl?: string }).ttl ?? "5m"),
  }));
}

function texts(content: unknown): Json[] {
  if (content === undefined) return [];
  return typeof content === "string" ? [{ type: "text", text: content }] : (content as Json[]);
}

const list = (value: unknown): unknown[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value];
const tokens = (text: string): number => Math.floor(text.length / CHARACTERS_PER_TOKEN);
const hash = (text: string): string => createHash("sha256").update(text).digest("base64");

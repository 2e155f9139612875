import { createHash } from "node:crypto";
import { appendFile, mkdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { type ArchivedItem, keyOf } from "./archive-format.ts";
import { replaceFile } from "./replace-file.ts";

const lineSchema = z.union([
  z.strictObject({ url: z.string(), tenant: z.string() }),
  z.strictObject({
    kind: z.string(),
    id: z.string(),
    step: z.enum(["begun", "refused", "done"]),
    /** The same for all attempts that continue one another. */
    attempt: z.string(),
    /** True if a refused attempt has left something at the server. */
    stored: z.boolean().optional(),
    /** Parts of what is done that the server refused. */
    refused: z.array(z.strictObject({ status: z.number(), reason: z.string() })).optional(),
    notes: z.array(z.string()).optional(),
    todo: z.array(z.string()).optional(),
  }),
]);

type Line = z.output<typeof lineSchema>;
type Step = Extract<Line, { step: string }>;

/** The steps of a restore at one server, by which it continues after an interruption or a refusal. */
export class RestoreJournal {
  readonly #file: string;
  readonly #steps: Map<string, Step>;

  private constructor(file: string, steps: Map<string, Step>) {
    this.#file = file;
    this.#steps = steps;
  }

  static async open(
    directory: string,
    { url, tenant }: { url: string; tenant: string },
  ): Promise<RestoreJournal> {
    const folder = join(directory, "restores");
    const target = createHash("sha256").update(`${url} ${tenant}`).digest("hex").slice(0, 16);
    const file = join(folder, `${target}.ndjson`);
    await mkdir(folder, { recursive: true });
    const content = await readFile(file, "utf8").catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
      throw error;
    });
    const lines = content
      .slice(0, content.lastIndexOf("\n") + 1)
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => lineSchema.parse(JSON.parse(line)));
    const [first] = lines;
    // Without the last line, which may be cut off.
    const kept = first === undefined ? [{ url, tenant }] : lines;
    await replaceFile(file, kept.map((line) => `${JSON.stringify(line)}\n`).join(""));
    const steps = lines.flatMap((line) => ("step" in line ? [line] : []));
    return new RestoreJournal(file, new Map(steps.map((one) => [keyOf(one), one])));
  }

  stepOf(item: Pick<ArchivedItem, "kind" | "id">): Step | undefined {
    return this.#steps.get(keyOf(item));
  }

  async add(step: Step): Promise<void> {
    await appendFile(this.#file, `${JSON.stringify(step)}\n`, { flush: true });
    this.#steps.set(keyOf(step), step);
  }

  /** Ends the restore: the next one of this directory starts from nothing. The journal is kept under the time of its end. */
  async end(): Promise<void> {
    const time = new Date().toISOString().replaceAll(":", "-");
    await rename(this.#file, this.#file.replace(/ndjson$/, `${time}.ndjson`));
  }

  /** All that was noted, also by earlier attempts. */
  get notes(): string[] {
    return [...this.#steps.values()].flatMap(({ notes = [] }) => notes);
  }

  get todo(): string[] {
    return [...this.#steps.values()].flatMap(({ todo = [] }) => todo);
  }
}

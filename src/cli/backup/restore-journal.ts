import { createHash, randomUUID } from "node:crypto";
import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { type ArchivedItem, keyOf } from "./archive.ts";

const lineSchema = z.union([
  z.strictObject({ restore: z.string(), url: z.string(), tenant: z.string() }),
  z.strictObject({
    kind: z.string(),
    id: z.string(),
    step: z.enum(["begun", "refused", "done"]),
    notes: z.array(z.string()).optional(),
    todo: z.array(z.string()).optional(),
  }),
]);

type Line = z.output<typeof lineSchema>;
type Step = Extract<Line, { step: string }>;

/** The steps of a restore at one server, by which it continues after an interruption. */
export class RestoreJournal {
  readonly #file: string;
  /** Differs for each restore: requests are repeated within one only. */
  readonly id: string;
  readonly #steps: Map<string, Step>;

  private constructor(file: string, id: string, steps: Map<string, Step>) {
    this.#file = file;
    this.id = id;
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
    const known = first !== undefined && "restore" in first ? first : undefined;
    const head = known ?? { restore: randomUUID(), url, tenant };
    // Without the last line, which may be cut off.
    const kept = known === undefined ? [head] : lines;
    await writeFile(file, kept.map((line) => `${JSON.stringify(line)}\n`).join(""));
    const steps = lines.flatMap((line) => ("step" in line ? [line] : []));
    return new RestoreJournal(file, head.restore, new Map(steps.map((one) => [keyOf(one), one])));
  }

  stepOf(item: Pick<ArchivedItem, "kind" | "id">): Step | undefined {
    return this.#steps.get(keyOf(item));
  }

  async add(step: Step): Promise<void> {
    await appendFile(this.#file, `${JSON.stringify(step)}\n`, { flush: true });
    this.#steps.set(keyOf(step), step);
  }

  /** All that was noted, also by earlier attempts. */
  get notes(): string[] {
    return [...this.#steps.values()].flatMap(({ notes = [] }) => notes);
  }

  get todo(): string[] {
    return [...this.#steps.values()].flatMap(({ todo = [] }) => todo);
  }
}

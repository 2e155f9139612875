import { toFile } from "openai";
import type { FileCreateParams } from "openai/resources/files";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MAX_UPLOADED_BYTES } from "#contract/constants.ts";
import { sha256Hex } from "#core/hash.ts";
import { pdfOf } from "../../../support/pdf.ts";
import { jsonInit } from "../../../support/http-app.ts";
import { bearer, deployed, teamToken } from "../support/access.ts";
import { newTeam, writer } from "../support/teams.ts";
import { all, client, type Stage, startStage } from "./support/stage.ts";

const PDF = pdfOf("The rent is 900.");
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const DAY_S = 86_400;

const upload = async (
  content: string | Uint8Array,
  name: string,
  type: string,
  more: Partial<FileCreateParams> = {},
): Promise<FileCreateParams> => ({
  file: await toFile(Buffer.from(content), name, { type }),
  purpose: "user_data",
  ...more,
});

describe.each([
  ["in the object of the tenant", {}],
  ["in a bucket", { bucket: true }],
] as const)("files %s", (_, options) => {
  let stage: Stage;
  const openai = (key = "acme") => client(origin, key);
  let origin: string;

  beforeAll(async () => {
    stage = await startStage(await deployed(), options);
    origin = await stage.worker.origin;
    for (const tenant of ["acme", "globex"]) {
      await newTeam(stage.worker, { id: "desk", component: writer() }, bearer(tenant));
    }
  });

  afterAll(() => stage[Symbol.asyncDispose]());

  test("are uploaded, listed in pages, read and erased", async () => {
    const { files } = openai();
    const before = Math.floor(Date.now() / 1000);
    const made = [];
    for (const name of ["a.txt", "b.txt", "c.txt"])
      made.push(await files.create(await upload(`I am ${name}.`, name, "text/plain")));
    const vision = await files.create(
      await upload(Buffer.from(PIXEL, "base64"), "pixel.png", "image/png", { purpose: "vision" }),
    );
    expect(made[0]).toMatchObject({
      object: "file",
      id: expect.stringMatching(/^file-/),
      filename: "a.txt",
      purpose: "user_data",
      bytes: 11,
      status: "processed",
    });
    const { created_at, expires_at } = made[0]!;
    expect(created_at).toBeGreaterThanOrEqual(before);
    expect(expires_at! - created_at).toBe(30 * DAY_S);
    const names = async (query: object) =>
      (await all(await files.list(query))).map(({ filename }) => filename);
    expect(await names({ limit: 2, purpose: "user_data" })).toEqual(["c.txt", "b.txt", "a.txt"]);
    expect(await names({ limit: 2, order: "asc" })).toEqual([
      "a.txt",
      "b.txt",
      "c.txt",
      "pixel.png",
    ]);
    const page = await files.list({ limit: 2, order: "asc" });
    expect([page.data.length, page.has_more]).toEqual([2, true]);
    expect(await files.retrieve(vision.id)).toEqual(vision);
    const content = await files.content(vision.id);
    expect(content.headers.get("content-disposition")).toBe("attachment");
    expect(Buffer.from(await content.arrayBuffer()).toString("base64")).toBe(PIXEL);
    expect(await files.delete(vision.id)).toEqual({
      id: vision.id,
      object: "file",
      deleted: true,
    });
    const gone = { status: 404, code: "file_not_found" };
    await expect(files.retrieve(vision.id)).rejects.toMatchObject(gone);
    await expect(files.content(vision.id)).rejects.toMatchObject(gone);
    await expect(files.delete(vision.id)).rejects.toMatchObject(gone);
    await expect(files.list({ after: vision.id })).rejects.toMatchObject(gone);
    for (const { id } of made) await files.delete(id);
  });

  test("come back as they were, also in several pieces", async () => {
    const bytes = Uint8Array.from({ length: 2_500_001 }, (_unused, index) => (index * 7) % 251);
    const { files } = openai();
    const { id } = await files.create(await upload(bytes, "large.bin", "application/x-large"));
    const content = new Uint8Array(await (await files.content(id)).arrayBuffer());
    expect(Buffer.compare(content, bytes)).toBe(0);
    await files.delete(id);
  });

  test("are copied into messages by their ids", async () => {
    const { files, chat, responses } = openai();
    const pdf = await files.create(await upload(PDF, "lease.pdf", "application/pdf"));
    const text = await files.create(await upload("city,rent\n", "rents.csv", "text/csv"));
    const image = await files.create(
      await upload(Buffer.from(PIXEL, "base64"), "pixel.png", "image/png"),
    );
    await chat.completions.create({
      model: "team:desk",
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "What is the rent?" },
            { type: "file", file: { file_id: pdf.id } },
            { type: "file", file: { file_id: text.id, filename: "other.csv" } },
          ],
        },
      ],
    });
    expect(await lastTask()).toEqual([
      "What is the rent?",
      { data: PDF.toString("base64"), name: "lease.pdf", media_type: "application/pdf" },
      { data: btoa("city,rent\n"), name: "other.csv", media_type: "text/csv" },
    ]);
    const response = await responses.create({
      model: "team:desk",
      input: [
        {
          role: "user",
          content: [
            { type: "input_file", file_id: pdf.id },
            { type: "input_image", file_id: image.id, detail: "auto" },
          ],
        },
      ],
    });
    expect(await lastTask()).toEqual([
      { data: PDF.toString("base64"), name: "lease.pdf", media_type: "application/pdf" },
      { data: PIXEL },
    ]);
    // The message has the file, whatever becomes of the upload.
    for (const { id } of [pdf, text, image]) await files.delete(id);
    const { data } = await responses.inputItems.list(response.id);
    expect(data[0]).toMatchObject({ content: [{ filename: "lease.pdf" }, {}] });
    const again = [
      { role: "user" as const, content: [{ type: "file" as const, file: { file_id: pdf.id } }] },
      { role: "assistant" as const, content: "900." },
      { role: "user" as const, content: "And the deposit?" },
    ];
    await chat.completions.create({ model: "team:desk", messages: again });
    expect(await lastTask()).toBe("And the deposit?");
    await expect(
      chat.completions.create({ model: "team:desk", messages: again.slice(0, 1) }),
    ).rejects.toMatchObject({ status: 404, code: "file_not_found" });
  });

  test("belong to their tenant, and to the team of a token", async () => {
    const { id } = await openai().files.create(await upload("Secret.", "a.txt", "text/plain"));
    const token = await teamToken(stage.worker, "desk", ["runs:write"]);
    for (const other of ["globex", token]) {
      const { files, responses } = openai(other);
      expect((await files.list()).data).toEqual([]);
      for (const method of ["retrieve", "content", "delete"] as const)
        await expect(files[method](id)).rejects.toMatchObject({
          status: 404,
          code: "file_not_found",
        });
      const input = [
        { role: "user" as const, content: [{ type: "input_file" as const, file_id: id }] },
      ];
      await expect(responses.create({ model: "team:desk", input })).rejects.toMatchObject({
        code: "file_not_found",
      });
    }
    const own = await openai(token).files.create(await upload("Mine.", "b.txt", "text/plain"));
    expect((await openai(token).files.list()).data).toEqual([own]);
    expect((await openai().files.list()).data).toEqual([own, expect.objectContaining({ id })]);
    for (const file of [id, own.id]) await openai().files.delete(file);
  });

  test.each<[string, Partial<FileCreateParams>, string]>([
    ["purpose", { purpose: "none" as "vision" }, "purpose"],
    ["life", { expires_after: { anchor: "created_at", seconds: 60 } }, "expires_after.seconds"],
    [
      "anchor",
      { expires_after: { anchor: "now" as "created_at", seconds: DAY_S } },
      "expires_after.anchor",
    ],
  ])("are refused with an invalid %s", async (_name, more, param) => {
    const file = await upload("Hello.", "a.txt", "text/plain", more);
    await expect(openai().files.create(file)).rejects.toMatchObject({ status: 400, param });
  });

  test("are refused above their size, and expire when they are to", async () => {
    const { files } = openai();
    const large = await upload(new Uint8Array(MAX_UPLOADED_BYTES + 1), "large.bin", "text/plain");
    await expect(files.create(large)).rejects.toMatchObject({ status: 413 });
    const expires_after = { anchor: "created_at" as const, seconds: DAY_S };
    const file = await files.create(await upload("Hi.", "a.txt", "text/plain", { expires_after }));
    expect(file.expires_at! - file.created_at).toBe(DAY_S);
    await files.delete(file.id);
  });

  async function lastTask(): Promise<unknown> {
    const shown = await stage.worker.fetch("/v1/teams/desk/runs", { headers: bearer("acme") });
    const { runs } = (await shown.json()) as { runs: { task: { content: unknown }[] }[] };
    return runs[0]?.task[0]?.content;
  }
});

test("a tenant at its limit of stored bytes takes no file", async () => {
  const operator = "operator";
  const stage = await startStage(await deployed({ OPERATOR_KEY_HASH: await sha256Hex(operator) }));
  try {
    const { files } = client(await stage.worker.origin, "acme");
    await files.create(await upload("12345", "a.txt", "text/plain"));
    const limits = { limits: { stored_bytes: 5 } };
    const put = await stage.worker.fetch(
      "/v1/tenants/acme",
      jsonInit(limits, "PUT", bearer(operator)),
    );
    expect(await put.json()).toMatchObject({ stored_bytes: 5 });
    await expect(files.create(await upload("6", "b.txt", "text/plain"))).rejects.toMatchObject({
      status: 507,
      code: "too_many_stored_bytes",
    });
  } finally {
    await stage[Symbol.asyncDispose]();
  }
});

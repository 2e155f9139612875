import { beginningOf } from "../../../core/cut.ts";
import { DocumentError } from "../../../contract/files/documents.ts";
import { fromBase64 } from "../../../core/base64.ts";
import { ComponentError } from "../../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../../core/json.ts";
import { PDF } from "../../../core/models/attached-files.ts";
import { invalid, type ProblemError } from "../endpoint/problem.ts";
import type { MessageServices } from "../endpoint/services.ts";

type TextServices = Pick<MessageServices, "components" | "documents">;

/** The most that models get of a document, in characters. */
const LONGEST_TEXT = 200_000;

/**
 * Adds to each PDF of a message what it says, where a model of the team does not read PDF.
 *
 * @param component the team's component
 * @throws ProblemError 422 where it is needed and cannot be had
 */
export async function addTexts(
  messages: readonly object[],
  path: (index: number) => string,
  component: () => Promise<unknown>,
  services: TextServices,
): Promise<void> {
  const pdfs = messages.flatMap((message, index) => {
    const { content } = message as { content?: unknown };
    const parts: readonly unknown[] = Array.isArray(content) ? content : [];
    return parts.flatMap((part, position) =>
      isJsonObject(part) && part["media_type"] === PDF && part["text"] === undefined
        ? [{ part, at: `${path(index)}.content[${position}]` }]
        : [],
    );
  });
  if (pdfs.length === 0) return;
  const need = await needOf(await component(), services);
  if (need === "none") return;
  for (const { part, at } of pdfs) {
    try {
      part["text"] = await textOf(part, services);
    } catch (error) {
      if (!(error instanceof DocumentError)) throw error;
      if (need === "some") throw refused(error, at);
    }
  }
}

/** The number of models that need texts: none, some, or unknown, because their clients are made in code. */
async function needOf(
  component: unknown,
  { components }: TextServices,
): Promise<"none" | "some" | "unknown"> {
  try {
    const models = await components.modelInfos(component);
    if (models.length === 0) return "unknown";
    return models.every(({ pdf }) => pdf === true) ? "none" : "some";
  } catch (error) {
    if (error instanceof ComponentError) return "unknown";
    throw error;
  }
}

async function textOf(part: JsonObject, { documents }: TextServices): Promise<string> {
  if (documents === undefined) throw new DocumentError("no_extractor", "There is no sandbox.");
  const reader = await documents();
  const pages = await reader.pages(fromBase64(part["data"] as string), PDF);
  const text = pages.map((page) => page.trim()).join("\n\n");
  if (text.trim() === "")
    throw new DocumentError("unreadable", "its pages have no text: they may be pictures");
  if (text.length <= LONGEST_TEXT) return text;
  return `${beginningOf(text, LONGEST_TEXT)}\n[Cut: the document has ${text.length} characters, ${LONGEST_TEXT} are shown.]`;
}

function refused({ code, message }: DocumentError, path: string): ProblemError {
  const remedy = "Use models that read PDF only (model_info.pdf)";
  if (code === "unreadable") {
    return invalid(
      "unreadable_document",
      `A model of the team does not read PDF, and the text of the document cannot be read. ${remedy}.`,
      [{ path, message }],
    );
  }
  return invalid(
    "no_extractor",
    `A model of the team does not read PDF, and nothing here reads it in its place. ${remedy}, a sandbox with pypdf or pdftotext, or a Worker with troupe/documents.`,
    [{ path, message: "is a PDF, whose text is needed" }],
  );
}

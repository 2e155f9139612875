import { createHash } from "node:crypto";
import { openAsBlob } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, extname, join, relative, sep } from "node:path";
import { Command } from "commander";
import {
  ApiError,
  type DocumentInfo,
  type PutCollection,
  type TroupeClient,
} from "../../client/index.ts";
import { CliError, EXIT } from "../terminal/errors.ts";
import { printJson, printLine } from "../terminal/output.ts";
import { connect, type ConnectionOptions, withConnection } from "./connection.ts";

/** The media types of files, by the end of their names. */
const TYPES: Readonly<Record<string, string>> = {
  ".md": "text/markdown",
  ".markdown": "text/markdown",
  ".mdx": "text/markdown",
  ".html": "text/html",
  ".htm": "text/html",
  ".txt": "text/plain",
  ".text": "text/plain",
  ".rst": "text/plain",
  ".csv": "text/csv",
  ".pdf": "application/pdf",
  ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
};

interface CollectionOptions extends ConnectionOptions {
  collection: string;
}

interface AddOptions extends CollectionOptions {
  embedding?: string;
  /** Checked by the server, whose refusal names the codes. */
  language?: string;
  charset?: string;
}

export function docsCommand(): Command {
  return new Command("docs")
    .description("Puts documents into a collection, searches, lists and removes them.")
    .addCommand(addCommand())
    .addCommand(listCommand())
    .addCommand(searchCommand())
    .addCommand(removeCommand());
}

function addCommand(): Command {
  const command = withCollection(new Command("add"))
    .description("Puts a file, or the documents of a folder, into a collection, which is created.")
    .argument("<path>", "file or folder")
    .option("--embedding <model>", "embed them with this model of OpenAI, with env:OPENAI_API_KEY")
    .option("--language <code>", "the language of the documents, such as de; auto looks at each")
    .option(
      "--charset <charset>",
      "the charset of texts that are not in UTF-8, such as windows-1252",
    )
    .addHelpText(
      "after",
      `
Documents end in ${Object.keys(TYPES).join(", ")}. The same path again replaces its document.

Example:
  $ npx troupe docs add ./handbook --collection handbook`,
    )
    .action(async (path: string, options: AddOptions) => {
      const files = await documentsAt(path);
      await connect(options, async (client) => {
        await prepare(client, options);
        let refused = 0;
        for (const document of files) {
          try {
            show(await put(client, options, document), options);
          } catch (error) {
            if (!(error instanceof ApiError && OF_A_DOCUMENT.has(error.status))) throw error;
            refused++;
            process.stderr.write(`${document.file}: ${reasonIn(error)}\n`);
          }
        }
        if (refused > 0) {
          const message = `${refused} of ${files.length} documents were refused.`;
          throw new CliError(message, { code: "documents_refused" });
        }
      });
    });
  return withConnection(command);
}

/** Refusals of one document, after which others may be taken: its size, its media type, its content. */
const OF_A_DOCUMENT: ReadonlySet<number> = new Set([413, 415, 422]);

async function put(
  client: TroupeClient,
  { collection, charset }: AddOptions,
  { file, id, type: mediaType, name }: DocumentFile,
): Promise<DocumentInfo> {
  const content = await openAsBlob(file);
  const isText = mediaType.startsWith("text/") && charset !== undefined;
  const type = isText ? `${mediaType}; charset=${charset}` : mediaType;
  // An id has few characters: the name of such a file is the title.
  const title = /[^ -~]/.test(name) ? name : undefined;
  return client.collections.putDocument(collection, id, {
    content,
    type,
    ...(title !== undefined && { title }),
  });
}

/** The reason once: the list of errors says what the detail does. */
function reasonIn({ problem, message }: ApiError): string {
  return problem.detail ?? message;
}

/** Creates the collection, if it is missing or is to have another embedding or language. */
async function prepare(
  client: TroupeClient,
  { collection, embedding: model, language }: AddOptions,
): Promise<void> {
  if (model !== undefined || language !== undefined) {
    const before = await client.collections.get(collection).catch((error: unknown) => {
      if ((error as ApiError).status !== 404) throw error;
      return undefined;
    });
    const { description = null, embedding = null } = before ?? {};
    await client.collections.put(collection, {
      description,
      language: (language as PutCollection["language"]) ?? before?.language,
      embedding:
        model === undefined
          ? embedding
          : {
              provider: "troupe.embeddings.OpenAIEmbeddingClient",
              config: { model, api_key: "env:OPENAI_API_KEY" },
            },
    });
    return;
  }
  try {
    await client.collections.get(collection);
  } catch (error) {
    if ((error as ApiError).status !== 404) throw error;
    await client.collections.put(collection);
  }
}

function listCommand(): Command {
  const command = withCollection(new Command("list"))
    .description("Lists the documents of a collection with the progress of their embedding.")
    .addHelpText("after", "\nExample:\n  $ npx troupe docs list --collection handbook")
    .action(async (options: CollectionOptions) => {
      await connect(options, async (client) => {
        let cursor: string | null | undefined;
        do {
          const query = { limit: 200, cursor: cursor ?? undefined };
          const page = await client.collections.documents(options.collection, query);
          for (const document of page.documents) show(document, options);
          cursor = page.next_cursor;
        } while (cursor !== null);
      });
    });
  return withConnection(command);
}

function searchCommand(): Command {
  const command = withCollection(new Command("search"))
    .description("Prints the parts of documents that answer a question.")
    .argument("<question>")
    .addHelpText(
      "after",
      '\nExample:\n  $ npx troupe docs search "How many holidays?" --collection handbook',
    )
    .action(async (q: string, options: CollectionOptions) => {
      await connect(options, async (client) => {
        const found = await client.collections.search(options.collection, { q });
        if (options.json) {
          printJson(found);
          return;
        }
        for (const { document, heading, page, content } of found.results) {
          const pageText = page === null ? "" : `, page ${page}`;
          printLine(`${document}${heading === null ? "" : `, ${heading}`}${pageText}`);
          printLine(`  ${content.replaceAll("\n", "\n  ")}`);
        }
        if (found.results.length === 0) printLine("Nothing was found.");
        if (found.note !== undefined) process.stderr.write(`${found.note}\n`);
      });
    });
  return withConnection(command);
}

function removeCommand(): Command {
  const command = withCollection(new Command("rm"))
    .description("Removes a document; without one, the collection with all its documents.")
    .argument("[document]", "id of the document")
    .addHelpText("after", "\nExample:\n  $ npx troupe docs rm guide.md --collection handbook")
    .action(async (document: string | undefined, { collection, ...options }: CollectionOptions) => {
      await connect(options, async (client) => {
        if (document === undefined) await client.collections.delete(collection);
        else await client.collections.deleteDocument(collection, document);
      });
    });
  return withConnection(command);
}

function withCollection(command: Command): Command {
  return command.option("--collection <collection>", "id of the collection", "docs");
}

interface DocumentFile {
  file: string;
  id: string;
  type: string;
  /** Its path, as the id would be if it might have all characters. */
  name: string;
}

/** The documents in a file or folder; those in folders with a dot in front of their names are left out. @throws CliError */
async function documentsAt(path: string): Promise<DocumentFile[]> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw noDocuments(`There is no file or folder ${path}.`);
  if (found.isFile()) {
    const type = TYPES[extname(path).toLowerCase()];
    if (type === undefined) throw noDocuments(`${path} is not a document: ${ENDS}.`);
    const name = nameOf(basename(path));
    return [{ file: path, id: idOf(name), type, name }];
  }
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries.flatMap((entry): DocumentFile[] => {
    const file = join(entry.parentPath, entry.name);
    const type = TYPES[extname(entry.name).toLowerCase()];
    const relativePath = relative(path, file);
    const hidden = relativePath
      .split(sep)
      .some((part) => part.startsWith(".") || part === "node_modules");
    if (!entry.isFile() || hidden || type === undefined) return [];
    const name = nameOf(relativePath);
    return [{ file, id: idOf(name), type, name }];
  });
  if (files.length > 0) return files.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  throw noDocuments(`The folder ${path} has no documents: ${ENDS}.`);
}

const ENDS = `their names end in ${Object.keys(TYPES).join(", ")}`;

function nameOf(path: string): string {
  return path.split(sep).join("~").normalize();
}

/**
 * The id of a document: its path, with ~ between folders. Ids have few characters: where others are replaced or the path is
 * too long, a hash of the path keeps the ids of two files apart.
 */
function idOf(name: string): string {
  const id = name.replaceAll(/[^A-Za-z0-9_.~-]/g, "-");
  if (id === name && id.length <= MAX_ID) return id;
  const end = extname(id);
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 8);
  const rest = MAX_ID - end.length - hash.length - 1;
  return `${id.slice(0, id.length - end.length).slice(-rest)}-${hash}${end}`;
}

const MAX_ID = 200;
/** An id in which characters were replaced. */
const HASHED = /-[0-9a-f]{8}(\.\w+)?$/;

function noDocuments(message: string): CliError {
  return new CliError(message, { exitCode: EXIT.usage, code: "no_documents" });
}

function show(document: DocumentInfo, { json }: ConnectionOptions): void {
  if (json) {
    printJson(document);
    return;
  }
  const { id, title, status, chunks, embedded, error } = document;
  const progress = status === "embedding" ? ` ${embedded} of` : "";
  const name = title === null || !HASHED.test(id) ? "" : ` (${title})`;
  printLine(
    `${id}${name}  ${status}${progress} ${chunks} parts${error === null ? "" : `: ${error}`}`,
  );
}

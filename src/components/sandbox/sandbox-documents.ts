import { DocumentError, type DocumentReader } from "../../contract/files/documents.ts";
import type { SandboxAddress } from "./client/sandbox-connection.ts";
import { SandboxClient } from "./client/sandbox-client.ts";
import { SessionFiles } from "./session-files.ts";

const TIMEOUT_SECONDS = 60;

/** The exit code of the program when the sandbox has no PDF reader. */
const NOTHING_READS = 3;

/** Prints the text, pages separated by form feeds. */
const PROGRAM = `
import shutil, subprocess, sys

def pages():
    try:
        from pypdf import PdfReader
        return [page.extract_text() or "" for page in PdfReader("document.pdf").pages]
    except ImportError:
        pass
    try:
        import pymupdf
        return [page.get_text() for page in pymupdf.open("document.pdf")]
    except ImportError:
        pass
    if shutil.which("pdftotext") is None:
        sys.exit(${NOTHING_READS})
    command = ["pdftotext", "-enc", "UTF-8", "document.pdf", "-"]
    done = subprocess.run(command, capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace").rstrip("\\f").split("\\f")

sys.stdout.write("\\f".join(page.replace("\\f", " ") for page in pages()))
`;

/** Reads PDF in a session of its own, by pypdf, PyMuPDF or pdftotext, whichever the sandbox has. */
export class SandboxDocuments implements DocumentReader {
  readonly #client: SandboxClient;
  readonly #files: SessionFiles;

  constructor(address: SandboxAddress) {
    this.#client = new SandboxClient(address);
    this.#files = new SessionFiles(address);
  }

  async pages(bytes: Uint8Array<ArrayBuffer>, mediaType: string): Promise<string[]> {
    if (mediaType !== "application/pdf")
      throw new DocumentError("no_extractor", `nothing reads ${mediaType}`);
    const session = `document-${crypto.randomUUID()}`;
    const signal = AbortSignal.timeout((TIMEOUT_SECONDS + 30) * 1000);
    try {
      const content = new Blob([bytes]).stream() as ReadableStream<Uint8Array>;
      const written = await this.#files.write(session, "document.pdf", content, signal);
      if (!written.ok) throw new DocumentError("unreadable", written.problem.detail);
      const { exit_code, output } = await this.#run(session, signal);
      if (exit_code === NOTHING_READS)
        throw new DocumentError("no_extractor", "the sandbox has nothing that reads PDF");
      if (exit_code !== 0) throw new DocumentError("unreadable", "is a PDF that cannot be read");
      return output.split("\f");
    } finally {
      // The sandbox deletes idle sessions, so a session that could not be deleted is not an error.
      await this.#client.deleteSession(session).catch(() => undefined);
    }
  }

  async #run(session: string, signal: AbortSignal): Promise<{ exit_code: number; output: string }> {
    const execution = this.#client.execute(session, {
      blocks: [{ language: "python", code: PROGRAM }],
      timeoutSeconds: TIMEOUT_SECONDS,
      key: "read",
      signal,
    });
    for (;;) {
      const next = await execution.next();
      if (next.done) return next.value;
    }
  }
}

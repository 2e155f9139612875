import { rename, writeFile } from "node:fs/promises";

/** Writes a file whole: after a crash it has its old content or the new one, never a part. */
export async function replaceFile(file: string, content: string, mode = 0o666): Promise<void> {
  const temporary = `${file}.tmp`;
  await writeFile(temporary, content, { flush: true, mode });
  await rename(temporary, file);
}

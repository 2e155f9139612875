import * as z from "zod";

/** Code found in a message: the fenced block and its language. */
export const codeBlockSchema = z.object({ code: z.string(), language: z.string() });
export type CodeBlock = z.infer<typeof codeBlockSchema>;

/** What running code gave. Executors may add fields (`code_file`). */
export const codeResultSchema = z.looseObject({
  exit_code: z.number().int(),
  output: z.string(),
  /** Paths of files that the code wrote to its workspace. Messages have them in their metadata. */
  files: z.array(z.string()).optional(),
});
export type CodeResult = z.infer<typeof codeResultSchema>;

/**
 * The metadata of a message about code: `files` is a JSON array with the paths of the files that the code wrote. Results in
 * messages keep AutoGen's fields, and metadata has texts only.
 */
export function fileMetadata(files: readonly string[] = []): { files?: string } {
  return files.length === 0 ? {} : { files: JSON.stringify(files) };
}

import * as z from "zod";

/** Code found in a message: the fenced block and its language. */
export const codeBlockSchema = z.object({ code: z.string(), language: z.string() });
export type CodeBlock = z.infer<typeof codeBlockSchema>;

/** What running code gave. Executors may add fields (`code_file`). */
export const codeResultSchema = z.looseObject({ exit_code: z.number().int(), output: z.string() });
export type CodeResult = z.infer<typeof codeResultSchema>;

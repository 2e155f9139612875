import * as z from "zod";
import { imageSchema } from "../models/llm-messages.ts";

/** Code found in a message: the fenced block and its language. */
export const codeBlockSchema = z.object({ code: z.string(), language: z.string() });
export type CodeBlock = z.infer<typeof codeBlockSchema>;

/** An image file that the code wrote, in base64; null if it is not shown to models. */
export interface CodeImage {
  path: string;
  data: string | null;
}

const imagesSchema: z.ZodType<CodeImage[]> = z.array(
  z.object({ path: z.string(), data: imageSchema.shape.data.nullable() }),
);

/** The result of running code. Executors may add fields (`code_file`). */
export const codeResultSchema = z.looseObject({
  exit_code: z.number().int(),
  output: z.string(),
  /** Paths of files that the code wrote to its workspace. Messages have them in their metadata. */
  files: z.array(z.string()).optional(),
  images: imagesSchema.optional(),
});
export type CodeResult = z.infer<typeof codeResultSchema>;

/**
 * The metadata of a message about code: `files` is a JSON array with the paths of the files that the code wrote, and `images` one
 * with the images among them. Results in messages keep AutoGen's fields, and metadata has texts only.
 */
export function codeMetadata({ files = [], images = [] }: Pick<CodeResult, "files" | "images">): {
  files?: string;
  images?: string;
} {
  return {
    ...(files.length > 0 && { files: JSON.stringify(files) }),
    ...(images.length > 0 && { images: JSON.stringify(images) }),
  };
}

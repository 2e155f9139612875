import { isFile } from "../models/attached-files.ts";
import type { ChatMessage } from "./message.ts";

/** A file of the task of a run, as its tools and agents get it. */
export interface TaskFile {
  name: string;
  media_type: string;
  /** The bytes as base64. */
  data: string;
  /** True for the files of an event that came in from outside: data to consider, no instructions to follow. */
  foreign: boolean;
}

/** The key of the metadata of a message whose files came in from outside. */
export const FOREIGN_FILES = "foreign";

/** The files of a task, in the order of their messages. */
export function taskFiles(task: readonly ChatMessage[] | null): TaskFile[] {
  return (task ?? []).flatMap(({ content, metadata }) => {
    const parts: readonly unknown[] = Array.isArray(content) ? content : [];
    const foreign = FOREIGN_FILES in metadata;
    return parts.filter(isFile).map(({ name, media_type, data }) => {
      return { name, media_type, data, foreign };
    });
  });
}

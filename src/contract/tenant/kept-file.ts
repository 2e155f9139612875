import type { Result } from "../result.ts";

/** A file that was uploaded to a tenant. Times are Unix seconds. */
export interface KeptFile {
  id: string;
  filename: string;
  media_type: string | null;
  purpose: string;
  bytes: number;
  created_at: number;
  expires_at: number;
}

/** An upload. */
export interface NewFile extends Pick<KeptFile, "filename" | "media_type" | "purpose"> {
  /** Only callers with the same owner find it, and those who reach the whole tenant. Empty: the tenant's. */
  owner: string;
  /** Seconds after which it is erased. */
  expires_in: number;
  content: Uint8Array<ArrayBuffer>;
}

/** The owner of the files that a caller finds; undefined: all of the tenant. */
export type FileSight = string | undefined;

export interface KeptFileQuery {
  purpose?: string | undefined;
  /** The id of the last file that the caller has. */
  after?: string | undefined;
  order: "asc" | "desc";
  limit: number;
}

/** Calls of a tenant about the files that were uploaded to it. One that has expired is not found. */
export interface FileCalls {
  addFile(file: NewFile): Promise<Result<KeptFile>>;
  keptFile(id: string, sight: FileSight): Promise<Result<KeptFile>>;
  keptBytes(id: string, sight: FileSight): Promise<Result<Uint8Array<ArrayBuffer>>>;
  /** By the time of the upload. */
  keptFiles(
    query: KeptFileQuery,
    sight: FileSight,
  ): Promise<Result<{ files: KeptFile[]; more: boolean }>>;
  deleteFile(id: string, sight: FileSight): Promise<Result<null>>;
}

/** Calls about files that may be made twice. */
export const REPEATABLE_FILE_CALLS = ["keptFile", "keptBytes", "keptFiles"] as const;

import { ValueError } from "../../../core/errors.ts";

/** Limits of requests. Each is a setting of the same name in capitals. */
export interface Limits {
  /** Bytes of a request body. */
  max_body_bytes: number;
  /** Bytes of a file that is written to a team's workspace. */
  max_file_bytes: number;
  /** Nesting depth of arrays and objects in a request body. */
  max_json_depth: number;
  /** Components inside one component, itself included. */
  max_components: number;
  /** Nesting depth of components. */
  max_component_depth: number;
  /** Members of one team. */
  max_participants: number;
  /** Bytes of one message of a task or answer, as JSON without the bytes of its files and images. */
  max_message_bytes: number;
  /** Bytes of all files and images of a task or answer. */
  max_message_files_bytes: number;
  /** Messages of one task. */
  max_task_messages: number;
  /** Bytes of a team's or a run's metadata, as JSON. */
  max_metadata_bytes: number;
  /** Bytes of the memories of one user, of those of a tenant, and of one collection. */
  max_memory_bytes: number;
  /** Items of one page. */
  max_page_size: number;
  /** Seconds that `?wait=`, or `wait_seconds` of a tool, may hold a request. */
  max_wait_seconds: number;
  /**
   * Milliseconds of CPU that the Worker may use for the stream of one watcher; the stream then ends, and the client
   * reconnects with its cursor.
   */
  max_stream_cpu_ms: number;
}

/** Cloudflare refuses larger bodies, and so does `npm start`. */
export const MAX_REQUEST_BYTES = 100_000_000;

export const DEFAULT_LIMITS: Limits = {
  max_body_bytes: 1_000_000,
  max_file_bytes: 25_000_000,
  max_json_depth: 100,
  max_components: 500,
  max_component_depth: 16,
  max_participants: 50,
  max_message_bytes: 512_000,
  max_message_files_bytes: 5_000_000,
  max_task_messages: 500,
  max_metadata_bytes: 16_000,
  max_memory_bytes: 1_000_000_000,
  max_page_size: 200,
  max_wait_seconds: 300,
  // The CPU time of a request on the paid plan.
  max_stream_cpu_ms: 30_000,
};

/** A call of an object carries 32 MB, and base64 has four bytes for three. */
const MOST_MESSAGE_FILES_BYTES = 20_000_000;

/**
 * The limits, as changed by the settings: `MAX_BODY_BYTES=5000000`.
 *
 * @throws ValueError when a setting is not a positive whole number, or more than is possible
 */
export function limitsFrom(settings: { readonly [name: string]: unknown }): Limits {
  const limits = { ...DEFAULT_LIMITS };
  for (const name of Object.keys(limits) as (keyof Limits)[]) {
    const setting = settings[name.toUpperCase()];
    if (setting === undefined || setting === "") continue;
    const value = Number(setting);
    if (!Number.isSafeInteger(value) || value < 1) {
      throw new ValueError(
        `${name.toUpperCase()} is ${JSON.stringify(setting)}: it must be a positive whole number`,
      );
    }
    limits[name] = value;
  }
  if (limits.max_message_files_bytes > MOST_MESSAGE_FILES_BYTES) {
    throw new ValueError(
      `MAX_MESSAGE_FILES_BYTES is ${limits.max_message_files_bytes}: at most ${MOST_MESSAGE_FILES_BYTES} are possible`,
    );
  }
  return limits;
}

import { ValueError } from "../../core/errors.ts";

/** A vector as it is written. Ids are unique in the index, over all namespaces. */
export interface OutsideVector {
  id: string;
  namespace: string;
  values: number[];
}

/** An index's description. */
export interface VectorIndexInfo {
  dimensions: number;
  /** The last write that queries see, and when it was made: texts, which Cloudflare's types call numbers. */
  processedUpToMutation: string | number;
  processedUpToDatetime: string | number;
}

/** The part of Cloudflare's binding `Vectorize` that is used. Queries see a write some time after it was accepted. */
export interface VectorService {
  describe(): Promise<VectorIndexInfo>;
  query(
    vector: number[],
    options: { topK: number; namespace: string },
  ): Promise<{ matches: { id: string }[] }>;
  /** Those that the index has. At most {@link MOST_READ} at a time. */
  getByIds(ids: string[]): Promise<{ id: string }[]>;
  upsert(vectors: OutsideVector[]): Promise<{ mutationId: string }>;
  deleteByIds(ids: string[]): Promise<{ mutationId: string }>;
}

/** The most numbers that a vector may have there. */
export const MOST_DIMENSIONS = 1_536;
/** The most vectors that a query returns without their values and metadata. */
export const MOST_MATCHES = 100;
/** The most vectors that are read by their ids at a time. */
export const MOST_READ = 20;

/** Entries of an object whose vectors are searched in the object itself, unless VECTORIZE_ABOVE says otherwise. */
const DEFAULT_ABOVE = 50_000;

/**
 * The number of vectors above which an object uses the service.
 *
 * @param setting VECTORIZE_ABOVE
 * @throws ValueError for another value than a whole number of at most 50,000
 */
export function vectorizeAbove(setting: string | undefined): number {
  if (setting === undefined || setting === "") return DEFAULT_ABOVE;
  const value = Number(setting);
  if (Number.isSafeInteger(value) && value > 0 && value <= DEFAULT_ABOVE) return value;
  throw new ValueError(
    `VECTORIZE_ABOVE is ${JSON.stringify(setting)}: it must be a whole number from 1 to ${DEFAULT_ABOVE}`,
  );
}

/** Bindings have no signal: a call that takes too long is not waited for. @throws Error */
export async function within<T>(milliseconds: number, call: () => Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new LateAnswer(`no answer within ${milliseconds / 1_000} seconds`)),
      milliseconds,
    );
  });
  try {
    return await Promise.race([call(), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The service has not answered in time. */
export class LateAnswer extends Error {
  override readonly name = "LateAnswer";
}

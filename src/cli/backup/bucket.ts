import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, rename } from "node:fs/promises";
import { dirname } from "node:path";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { setTimeout as wait } from "node:timers/promises";
import type { AwsClient } from "aws4fetch";
import { delay } from "../../client/http/transport.ts";
import { trimEnd } from "../../core/text/trim-end.ts";
import { CliError, EXIT } from "../terminal/errors.ts";

/** The environment that names the store and its keys, as other programs for S3 read it. */
type BucketSettings = Readonly<Record<string, string | undefined>>;

/** The parts of keys that are the same in an address, in a URL and in a signature. */
const ADDRESS = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\/([\w-][\w.-]*(?:\/[\w-][\w.-]*)*)\/?$/;

/** Attempts after the first one, as for the requests of a backup at the server. */
const RETRIES = 8;
const LONGEST_WAIT_MS = 60_000;

/** An object of a bucket as it is listed. */
interface ListedObject {
  bytes: number;
  /** MD5 of the content, if the store has encrypted it with no key of a customer. */
  etag: string;
}

interface StoreRequest {
  method?: "GET" | "PUT";
  headers?: Record<string, string>;
  body?: Blob;
}

type Body = AsyncIterable<Uint8Array>;

/** A failure after which the same request may succeed. */
class TemporaryFailure extends Error {
  /** Milliseconds that the store asks to wait. */
  readonly retryAfter: number | undefined;

  constructor(message: string, { cause, retryAfter }: { cause?: unknown; retryAfter?: number }) {
    super(message, { cause });
    this.name = "TemporaryFailure";
    this.retryAfter = retryAfter;
  }
}

/** The objects under an address such as `s3://backups/monday`, in R2 or another store with the API of S3. */
export class Bucket {
  /** Without a slash at its end. */
  readonly address: string;
  /** The address with its store: another store may have the same address. */
  readonly id: string;
  readonly #client: AwsClient;
  readonly #endpoint: string;
  readonly #name: string;
  readonly #prefix: string;

  private constructor(client: AwsClient, endpoint: string, name: string, prefix: string) {
    this.address = `s3://${name}/${prefix}`;
    this.id = `${name}/${prefix} ${endpoint}`;
    this.#client = client;
    this.#endpoint = endpoint;
    this.#name = name;
    this.#prefix = prefix;
  }

  /** @throws CliError for an invalid address, and for settings that are missing */
  static async open(address: string, settings: BucketSettings): Promise<Bucket> {
    const [, name = "", prefix = ""] = ADDRESS.exec(address) ?? [];
    if (name === "") {
      throw invalid(
        `"${address}" is not the address of a backup in a bucket: it is s3://BUCKET/PREFIX, such as s3://backups/monday, with letters, digits, "-", "_" and "." in each part of the prefix.`,
      );
    }
    const endpoint = settings["AWS_ENDPOINT_URL_S3"] || settings["AWS_ENDPOINT_URL"] || "";
    const accessKeyId = settings["AWS_ACCESS_KEY_ID"] ?? "";
    const secretAccessKey = settings["AWS_SECRET_ACCESS_KEY"] ?? "";
    const missing = Object.entries({
      AWS_ENDPOINT_URL_S3: endpoint,
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
    }).flatMap(([setting, value]) => (value === "" ? [setting] : []));
    if (missing.length > 0) {
      throw invalid(`${address} needs ${missing.join(", ")} in the environment.`);
    }
    const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
    if (
      url === undefined ||
      !/^https?:$/.test(url.protocol) ||
      url.username + url.password + url.search + url.hash !== ""
    ) {
      throw invalid(
        "AWS_ENDPOINT_URL_S3 is not the URL of a store, such as https://<account>.r2.cloudflarestorage.com.",
      );
    }
    const { AwsClient } = await import("aws4fetch");
    const sessionToken = settings["AWS_SESSION_TOKEN"];
    const client = new AwsClient({
      accessKeyId,
      secretAccessKey,
      ...(sessionToken && { sessionToken }),
      service: "s3",
      region: settings["AWS_REGION"] || "auto",
    });
    return new Bucket(client, trimEnd(url.href, "/"), name, prefix);
  }

  /** The address of an object, for messages. */
  addressOf(path: string): string {
    return `${this.address}/${path}`;
  }

  /** An object as text; undefined for one that the bucket lacks. @throws CliError */
  async text(path: string): Promise<string | undefined> {
    const content = await this.#send(this.#urlOf(path), {}, (body) => buffer(body));
    return content?.toString("utf8");
  }

  /**
   * Writes an object into a file, which is there once it is whole.
   *
   * @returns the SHA-256 as hex; undefined for an object that the bucket lacks
   * @throws CliError
   */
  async download(path: string, file: string): Promise<string | undefined> {
    await mkdir(dirname(file), { recursive: true });
    const temporary = `${file}.tmp`;
    const digest = await this.#send(this.#urlOf(path), {}, async (body) => {
      const hash = createHash("sha256");
      const hashed = async function* (): AsyncGenerator<Uint8Array> {
        for await (const chunk of body) {
          hash.update(chunk);
          yield chunk;
        }
      };
      await pipeline(hashed, createWriteStream(temporary, { flush: true }));
      return hash.digest("hex");
    });
    if (digest !== undefined) await rename(temporary, file);
    return digest;
  }

  /** Stores an object. The store refuses content with another SHA-256. @throws CliError */
  async put(path: string, content: Blob, sha256: string): Promise<void> {
    const headers = { "x-amz-content-sha256": sha256 };
    const call: StoreRequest = { method: "PUT", headers, body: content };
    const stored = await this.#send(this.#urlOf(path), call, async (body) => {
      await buffer(body);
      return true;
    });
    if (stored === undefined) throw this.#refusal(404, "NoSuchKey");
  }

  /** All objects under the address, by their paths. @throws CliError */
  async list(): Promise<Map<string, ListedObject>> {
    const objects = new Map<string, ListedObject>();
    const folder = `${this.#prefix}/`;
    for (let token: string | undefined = ""; token !== undefined;) {
      const query = new URLSearchParams({ "list-type": "2", prefix: folder });
      if (token !== "") query.set("continuation-token", token);
      const url = `${this.#endpoint}/${this.#name}?${query.toString()}`;
      const page = await this.#send(url, {}, (body) => buffer(body));
      if (page === undefined) throw this.#refusal(404, "NoSuchBucket");
      const xml = page.toString("utf8");
      for (const [, content = ""] of xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
        const key = element(content, "Key") ?? "";
        const etag = (element(content, "ETag") ?? "").replaceAll('"', "");
        const bytes = Number(element(content, "Size"));
        objects.set(key.slice(folder.length), { bytes, etag });
      }
      token = element(xml, "NextContinuationToken");
    }
    return objects;
  }

  #urlOf(path: string): string {
    return `${this.#endpoint}/${this.#name}/${this.#prefix}/${path}`;
  }

  /** The result of `read` for the body; undefined for an object that the bucket lacks. @throws CliError */
  async #send<T>(
    url: string,
    call: StoreRequest,
    read: (body: Body) => Promise<T>,
  ): Promise<T | undefined> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#sendOnce(url, call, read);
      } catch (error) {
        if (!(error instanceof TemporaryFailure)) throw error;
        const ms = error.retryAfter ?? delay(attempt);
        if (attempt >= RETRIES || ms > LONGEST_WAIT_MS) throw this.#unreachable(error);
        await wait(ms);
      }
    }
  }

  async #sendOnce<T>(
    url: string,
    { method = "GET", headers = {}, body }: StoreRequest,
    read: (body: Body) => Promise<T>,
  ): Promise<T | undefined> {
    // A redirect would lead a signed request to another host.
    const init = { method, headers, redirect: "manual" as const, ...(body && { body }) };
    const request = await this.#client.sign(url, init);
    let response: Response;
    try {
      response = await fetch(request);
    } catch (cause) {
      throw new TemporaryFailure("no answer", { cause });
    }
    if (response.ok) return read(bodyOf(response));
    const { status } = response;
    const answer = await buffer(bodyOf(response));
    const code = /^\w{1,60}$/.exec(element(answer.toString("utf8"), "Code") ?? "")?.[0] ?? "";
    if (status === 404 && code !== "NoSuchBucket") return undefined;
    if (status === 429 || (status >= 500 && status !== 501)) {
      const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
      throw new TemporaryFailure(`${status} ${code}`, {
        ...(!Number.isNaN(seconds) && { retryAfter: seconds * 1000 }),
      });
    }
    throw this.#refusal(status, code);
  }

  #refusal(status: number, code: string): CliError {
    const answer = `${this.address}: ${this.#host} answered ${trimEnd(`${status} ${code}`, " ")}.`;
    if (status >= 300 && status < 400) {
      return storeError(
        `${answer} Redirects are not followed: check AWS_ENDPOINT_URL_S3 and AWS_REGION.`,
      );
    }
    if (code === "NoSuchBucket") {
      return storeError(`${answer} Create the bucket ${this.#name}, or check the address.`);
    }
    if (code === "RequestTimeTooSkewed") {
      return storeError(`${answer} Set the clock of this machine.`);
    }
    if (status === 401 || status === 403) {
      return storeError(
        `${answer} Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and that their token may read and write objects of this bucket.`,
      );
    }
    return storeError(answer);
  }

  #unreachable({ message, retryAfter }: TemporaryFailure): CliError {
    const again = retryAfter === undefined ? "later" : `in ${Math.ceil(retryAfter / 1000)} seconds`;
    return new CliError(
      `${this.address}: ${this.#host} cannot be used now (${message}). Check AWS_ENDPOINT_URL_S3, and repeat the command ${again}.`,
      { exitCode: EXIT.unreachable, code: "store_unreachable" },
    );
  }

  get #host(): string {
    return new URL(this.#endpoint).host;
  }
}

/** The body of a response, whose interruption is a temporary failure. */
async function* bodyOf({ body }: Response): AsyncGenerator<Uint8Array> {
  try {
    if (body !== null) yield* body;
  } catch (cause) {
    throw new TemporaryFailure("the answer was cut off", { cause });
  }
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&apos;": "'",
  "&#39;": "'",
  "&gt;": ">",
  "&lt;": "<",
  "&quot;": '"',
  "&#34;": '"',
};

/** The text of the first element with a name. */
function element(xml: string, name: string): string | undefined {
  const text = new RegExp(`<${name}>([^<]+)</${name}>`).exec(xml)?.[1];
  return text?.replaceAll(/&#?\w+;/g, (entity) => ENTITIES[entity] ?? entity);
}

function storeError(message: string): CliError {
  return new CliError(message, { code: "store_refused" });
}

function invalid(message: string): CliError {
  return new CliError(message, { exitCode: EXIT.usage, code: "invalid_store" });
}

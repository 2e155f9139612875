import { createHash, createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

const ACCESS_KEY = "access-key-of-the-tests";
const SECRET_KEY = "secret-key-of-the-tests";
const BUCKET = "backups";
const PAGE = 2;

interface Refusal {
  status: number;
  code: string;
}

/** A store with the API of S3 over HTTP, with one bucket. It checks signatures (AWS Signature Version 4) and hashes of contents. */
export class FakeS3 implements AsyncDisposable {
  readonly objects = new Map<string, Buffer>();
  /** Methods and keys of requests, such as `PUT monday/backup.json`, in their order. */
  readonly requests: string[] = [];
  /** An answer in place of the own one to a request; `cut` breaks the connection. */
  before: (request: string) => "cut" | Refusal | undefined = () => undefined;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy());
    });
  }

  static async start(): Promise<FakeS3> {
    const store = new FakeS3();
    await new Promise<void>((resolve) => {
      store.#server.listen(0, "127.0.0.1", resolve);
    });
    return store;
  }

  /** The environment of `troupe` for this store. */
  get env(): Record<string, string> {
    return {
      AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`,
      AWS_ACCESS_KEY_ID: ACCESS_KEY,
      AWS_SECRET_ACCESS_KEY: SECRET_KEY,
    };
  }

  /** The keys that were written. */
  get puts(): string[] {
    return this.requests.flatMap((one) => (one.startsWith("PUT ") ? [one.slice(4)] : []));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "GET" } = request;
    const url = new URL(request.url ?? "/", "http://store.test");
    const [, bucket = "", ...rest] = url.pathname.split("/").map(decodeURIComponent);
    const key = rest.join("/");
    const content = await buffer(request);
    const name = key === "" ? "LIST" : `${method} ${key}`;
    this.requests.push(name);
    const early = this.before(name);
    if (early === "cut") {
      response.destroy();
      return;
    }
    const refusal = early ?? refusalOf(request, url, content, bucket);
    if (refusal !== undefined) return refuse(response, refusal);
    if (method === "PUT") {
      this.objects.set(key, content);
      response.end();
      return;
    }
    if (key === "") {
      response.end(this.#page(url.searchParams));
      return;
    }
    const stored = this.objects.get(key);
    if (stored === undefined) return refuse(response, { status: 404, code: "NoSuchKey" });
    response.end(stored);
  }

  #page(query: URLSearchParams): string {
    const prefix = query.get("prefix") ?? "";
    const after = query.get("continuation-token") ?? "";
    const keys = [...this.objects.keys()]
      .filter((key) => key.startsWith(prefix) && `<${key}&` > after)
      .toSorted();
    const page = keys.slice(0, PAGE).map((key) => {
      const content = this.objects.get(key) ?? Buffer.of();
      const etag = createHash("md5").update(content).digest("hex");
      return `<Contents><Key>${key}</Key><ETag>&quot;${etag}&quot;</ETag><Size>${content.length}</Size></Contents>`;
    });
    const isLast = keys.length <= PAGE;
    // Tokens have characters that XML escapes.
    const token = `&lt;${keys[PAGE - 1]}&amp;`;
    const next = isLast ? "" : `<NextContinuationToken>${token}</NextContinuationToken>`;
    return `<?xml version="1.0"?><ListBucketResult>${page.join("")}<IsTruncated>${!isLast}</IsTruncated>${next}</ListBucketResult>`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }
}

function refusalOf(
  request: IncomingMessage,
  url: URL,
  content: Buffer,
  bucket: string,
): Refusal | undefined {
  const { headers, method } = request;
  const claimed = headers["x-amz-content-sha256"];
  const parts =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([\w-]+)\/s3\/aws4_request, SignedHeaders=([\w;-]+), Signature=(\w+)$/.exec(
      headers.authorization ?? "",
    );
  if (parts === null) return { status: 403, code: "AccessDenied" };
  const [, accessKey, day = "", region = "", names = "", signature] = parts;
  if (accessKey !== ACCESS_KEY) return { status: 403, code: "InvalidAccessKeyId" };
  const canonical = [
    method,
    url.pathname,
    [...url.searchParams]
      .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
      .toSorted()
      .join("&"),
    ...names.split(";").map((name) => `${name}:${String(headers[name])}`),
    "",
    names,
    claimed,
  ].join("\n");
  const scope = `${day}/${region}/s3/aws4_request`;
  const text = `AWS4-HMAC-SHA256\n${String(headers["x-amz-date"])}\n${scope}\n${sha256(canonical)}`;
  const signing = [day, region, "s3", "aws4_request"].reduce<Buffer>(
    (key, part) => hmac(key, part),
    Buffer.from(`AWS4${SECRET_KEY}`),
  );
  if (hmac(signing, text).toString("hex") !== signature || !names.split(";").includes("host")) {
    return { status: 403, code: "SignatureDoesNotMatch" };
  }
  if (bucket !== BUCKET) return { status: 404, code: "NoSuchBucket" };
  if (method !== "PUT") return undefined;
  if (headers["content-length"] === undefined) {
    return { status: 411, code: "MissingContentLength" };
  }
  if (claimed === sha256(content)) return undefined;
  return { status: 400, code: "XAmzContentSHA256Mismatch" };
}

function refuse(response: ServerResponse, { status, code }: Refusal): void {
  response.writeHead(status, {
    ...(status === 503 && { "retry-after": "0" }),
    ...(status === 307 && { location: "http://127.0.0.1:1/" }),
  });
  response.end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>No.</Message></Error>`);
}

function encoded(text: string): string {
  const escaped = (character: string): string =>
    `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, escaped);
}

function sha256(content: string | Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

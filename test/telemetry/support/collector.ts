import { expect } from "vitest";
import { type MessageType, metrics, trace } from "../../peers/opentelemetry.ts";
import { EchoServer } from "../../support/echo-server.ts";

const TYPES: Readonly<Record<string, MessageType>> = {
  "/v1/traces": trace.v1.ExportTraceServiceRequest,
  "/v1/metrics": metrics.v1.ExportMetricsServiceRequest,
};

export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  status: { code: number };
  attributes: Record<string, unknown>;
}

export interface ReceivedPoint {
  name: string;
  attributes: Record<string, unknown>;
  count: number;
  sum: number;
}

type KeyValues = readonly { key: string; value: Record<string, unknown> }[];

/** An OpenTelemetry collector that speaks OTLP over HTTP and takes what the protocol's definition allows, nothing else. */
export class Collector implements AsyncDisposable {
  readonly #server: EchoServer;
  /** The answer to come; a promise holds it back. */
  answer: number | Promise<number> = 200;

  private constructor(server: EchoServer) {
    this.#server = server;
  }

  /** @param port 0: any free one */
  static async start(port = 0): Promise<Collector> {
    const collector: Collector = new Collector(
      await EchoServer.start(async (response) => {
        const status = await collector.answer;
        response.writeHead(status, { "content-type": "application/json" }).end("{}");
      }, port),
    );
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  get requests() {
    return this.#server.requests;
  }

  /** All spans, in the order of their arrival. */
  get spans(): ReceivedSpan[] {
    return this.#bodies("/v1/traces").flatMap((body) =>
      (body["resourceSpans"] as { scopeSpans: { spans: (ReceivedSpan & Raw)[] }[] }[]).flatMap(
        ({ scopeSpans }) =>
          scopeSpans.flatMap(({ spans }) =>
            spans.map((span) => ({ ...span, attributes: plain(span.attributes) })),
          ),
      ),
    );
  }

  get points(): ReceivedPoint[] {
    return this.#bodies("/v1/metrics").flatMap((body) =>
      (body["resourceMetrics"] as { scopeMetrics: { metrics: RawMetric[] }[] }[]).flatMap(
        ({ scopeMetrics }) =>
          scopeMetrics.flatMap(({ metrics: received }) => received.flatMap(pointsOf)),
      ),
    );
  }

  /** The sum of a metric over all requests. */
  total(name: string, attributes: object = {}): number {
    return this.points
      .filter((point) => point.name === name)
      .filter((point) => Object.entries(attributes).every(([k, v]) => point.attributes[k] === v))
      .reduce((total, { sum }) => total + sum, 0);
  }

  /** What a resource says of itself, of the first request. */
  get resource(): Record<string, unknown> {
    const [first] = this.#bodies("/v1/traces").flatMap(
      (body) => body["resourceSpans"] as { resource: Raw }[],
    );
    return plain(first?.resource.attributes ?? []);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server[Symbol.asyncDispose]();
  }

  #bodies(path: string): Record<string, unknown>[] {
    return this.requests
      .filter((request) => request.path === path)
      .map(({ body }) => {
        const json = JSON.parse(body) as Record<string, unknown>;
        expectMessage(TYPES[path] as MessageType, json);
        return json;
      });
  }
}

interface Raw {
  attributes: KeyValues & Record<string, unknown>;
}

interface RawMetric {
  name: string;
  sum?: { dataPoints: (Raw & { asInt: string })[] };
  histogram?: { dataPoints: (Raw & { count: string; sum: number })[] };
}

function pointsOf({ name, sum, histogram }: RawMetric): ReceivedPoint[] {
  const sums = sum?.dataPoints ?? [];
  return [
    ...sums.map(({ attributes, asInt }) => ({
      name,
      attributes: plain(attributes),
      count: 1,
      sum: Number(asInt),
    })),
    ...(histogram?.dataPoints ?? []).map((point) => ({
      name,
      attributes: plain(point.attributes),
      count: Number(point.count),
      sum: point.sum,
    })),
  ];
}

function plain(values: KeyValues): Record<string, unknown> {
  return Object.fromEntries(
    values.map(({ key, value }) => {
      const [[type, given] = []] = Object.entries(value);
      return [key, type === "intValue" ? Number(given) : given];
    }),
  );
}

/** Ids of spans are in hexadecimal in OTLP's JSON, unlike in the protobuf format of JSON. */
const IDS = new Set(["traceId", "spanId", "parentSpanId"]);

/** Whatever the definition does not have would be lost on the way into a message and back. */
function expectMessage(type: MessageType, json: object): void {
  const message = type.fromObject(withBytes(json) as object);
  const back = type.toObject(message, { longs: String, bytes: Array });
  expect(normal(withBytes(json))).toEqual(normal(back));
}

function withBytes(value: unknown, key = ""): unknown {
  if (IDS.has(key)) {
    expect(value).toMatch(key === "traceId" ? /^[0-9a-f]{32}$/ : /^[0-9a-f]{16}$/);
    return [...Buffer.from(String(value), "hex")];
  }
  if (Array.isArray(value)) return value.map((item) => withBytes(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, withBytes(one, name)]),
  );
}

/** Long numbers are texts or numbers; what is empty is left out. */
function normal(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_key, one: unknown) => {
    if (Array.isArray(one) && one.length === 0) return undefined;
    return typeof one === "string" && /^\d+$/.test(one) ? Number(one) : one;
  });
}

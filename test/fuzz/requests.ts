import * as fc from "fast-check";
import type { Arbitrary } from "fast-check";
import type { Operation, Parameter, Schema } from "./operations.ts";
import { mutated, oddText, oddValue, seldom, toJson, valueOf } from "./values.ts";

/** A request before the ids of existing things are put into its path. */
export interface FuzzRequest {
  operation: Operation;
  /** By the name of the path's parameter; null stands for something that exists. */
  ids: Record<string, string | null>;
  /** Without the question mark. */
  query: string;
  headers: Record<string, string>;
  body: string | Uint8Array | undefined;
}

/** Characters that a client can put into a request line. */
const pathText: Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    "%",
    "%00",
    "%2F",
    "%2e%2e",
    "%zz",
    "..",
    ".",
    "%ff",
    "%E2%82",
    "*",
    ";a=1",
    "a".repeat(2_000),
  ),
  fc.string({ minLength: 1, maxLength: 20 }).map(encodeURIComponent),
  fc
    .string({
      unit: fc.integer({ min: 0x21, max: 0xff }).map((code) => String.fromCharCode(code)),
      minLength: 1,
      maxLength: 8,
    })
    .map((text) => text.replaceAll(/[?#/\\]/g, "x")),
);

/** Characters that a client can put into a header. */
const headerText: Arbitrary<string> = fc.oneof(
  fc.string({
    unit: fc
      .integer({ min: 0x20, max: 0xff })
      .filter((code) => code !== 0x7f)
      .map((code) => String.fromCharCode(code)),
    maxLength: 40,
  }),
  fc.constantFrom("", ",", "x".repeat(8_000), "0", "-1", "1e9", "NaN", "9".repeat(40)),
);

/** Anything a client may send to one of the operations. */
export function requests(
  operations: readonly Operation[],
  component: Schema,
): Arbitrary<FuzzRequest> {
  const each = operations.map((operation) => ({
    // Bodies can be wrong in many more ways than paths.
    weight: operation.body === undefined ? 1 : 4,
    arbitrary: fc.record({
      operation: fc.constant(operation),
      ids: idsOf(operation),
      query: queryOf(operation),
      headers: headersOf(operation),
      body: operation.method === "GET" ? fc.constant(undefined) : bodyOf(operation, component),
    }),
  }));
  return fc.oneof(...each).map(withoutWait);
}

/** A run that waits for its end would only take time. */
function withoutWait(request: FuzzRequest): FuzzRequest {
  return { ...request, query: request.query.replace(/\bwait=\d{2,}/, "wait=1") };
}

function idsOf({ parameters }: Operation): Arbitrary<Record<string, string | null>> {
  const names = parameters.filter((one) => one.in === "path").map(({ name }) => name);
  const id = fc.oneof(
    { weight: 8, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constantFrom("none", "A".repeat(64), "__proto__") },
    { weight: 2, arbitrary: pathText },
  );
  return fc.record(Object.fromEntries(names.map((name) => [name, id])));
}

function queryOf({ parameters }: Operation): Arbitrary<string> {
  const known = parameters.filter((one) => one.in === "query").map(pairOf);
  const unknown = fc.tuple(oddText, oddText).map(([name, value]) => pair(name, value));
  const raw = fc.constantFrom("%", "=", "&&", "a", "%zz=%", "token=x", "limit=1&limit=2", "q=%ff");
  return fc
    .tuple(
      ...known.map((one) => seldom(one, 1, fc.constant(""))),
      seldom(fc.oneof(unknown, raw), 12, fc.constant("")),
    )
    .map((pairs) => pairs.filter((one) => one !== "").join("&"));
}

function pairOf({ name, schema }: Parameter): Arbitrary<string> {
  return valueOf(schema).map((value) =>
    pair(name, typeof value === "string" ? value : toJson(value)),
  );
}

function pair(name: string, value: string): string {
  return `${encodeURIComponent(name.toWellFormed())}=${encodeURIComponent(value.toWellFormed())}`;
}

function headersOf({ parameters, body }: Operation): Arbitrary<Record<string, string>> {
  const named = parameters.filter((one) => one.in === "header").map(({ name }) => name);
  const odd = Object.fromEntries(
    [
      ...named,
      "accept",
      "origin",
      "content-encoding",
      "range",
      "if-none-match",
      "troupe-tenant",
      "x-odd",
    ].map((name) => [name.toLowerCase(), seldom(headerText, 25, fc.constant(undefined))]),
  );
  const type = fc.oneof(
    { weight: 15, arbitrary: fc.constant("application/json") },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        "text/plain",
        "application/json; charset=utf-16",
        "multipart/form-data; boundary=x",
        "application/merge-patch+json",
        "application/json;;;",
        "",
      ),
    },
    { weight: 1, arbitrary: headerText },
  );
  return fc
    .record({ ...odd, ...(body && { "content-type": type }) })
    .map(
      (headers) =>
        Object.fromEntries(
          Object.entries(headers).filter(([, value]) => value !== undefined),
        ) as Record<string, string>,
    );
}

function bodyOf({ body }: Operation, component: Schema): Arbitrary<FuzzRequest["body"]> {
  if (body === undefined) {
    return seldom(oddValue.map(toJson), 8, fc.constant(undefined));
  }
  const values = valueOf(withComponent(body, component));
  const fits = fc.oneof(values, mutated(values)).map(toJson);
  return fc.oneof(
    { weight: 20, arbitrary: fits },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fits, fc.nat(200), oddText)
        .map(([text, at, odd]) => text.slice(0, at) + odd),
    },
    {
      weight: 1,
      arbitrary: fc.uint8Array({ maxLength: 60 }).map((bytes) => new Uint8Array(bytes)),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        "",
        " ",
        "{",
        "[]",
        "null",
        "\uFEFF{}",
        '{"a":1}x',
        "nul",
        `"${"a".repeat(1_100_000)}"`,
      ),
    },
  );
}

/** The body with components as the server lists them, instead of any config. */
function withComponent(body: Schema, component: Schema): Schema {
  if (body.properties?.["component"] === undefined) return body;
  return { ...body, properties: { ...body.properties, component } };
}

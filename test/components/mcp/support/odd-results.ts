import type { Json } from "troupe";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const RESULT = { type: "text", text: "RESULT" };

/** Results of a call, and the texts that the model reads. */
export const RESULTS: [string, Json, (string | RegExp)[], boolean?][] = [
  [
    "a part of another type",
    { content: [{ type: "json", json: { a: 1 } }, RESULT] },
    [/unknown here.*"a":1/, "RESULT"],
  ],
  ["no content", {}, []],
  ["null as content", { content: null }, []],
  ["a text as content", { content: "RESULT" }, ["RESULT"]],
  ["one part as content", { content: RESULT }, ["RESULT"]],
  ["texts as parts", { content: ["one", "two"] }, ["one", "two"]],
  [
    "null and a number as parts",
    { content: [null, 5, RESULT] },
    [/Damaged part: null/, /Damaged part: 5/, "RESULT"],
  ],
  ["a text part without text", { content: [{ type: "text" }, RESULT] }, [/Damaged text/, "RESULT"]],
  ["a number as text", { content: [{ type: "text", text: 42 }] }, ["42"]],
  ["no type beside a text", { content: [{ text: "RESULT" }] }, ["RESULT"]],
  [
    "null for annotations and _meta",
    { content: [{ ...RESULT, annotations: null, _meta: null }], _meta: null },
    ["RESULT"],
  ],
  [
    "an image that is not base64",
    { content: [{ type: "image", data: "%%%", mimeType: "image/png" }, RESULT] },
    [/Damaged image: image\/png/, "RESULT"],
  ],
  [
    "an image without data",
    { content: [{ type: "image", mimeType: "image/png" }, RESULT] },
    [/Damaged image/, "RESULT"],
  ],
  [
    "an image as a data URL",
    { content: [{ type: "image", data: `data:image/png;base64,${PNG}` }] },
    ["[image]"],
  ],
  [
    "a sound without a type",
    { content: [{ type: "audio", data: "UklGRg==" }] },
    [/Audio: application\/octet-stream/],
  ],
  [
    "a resource without text and bytes",
    { content: [{ type: "resource", resource: { uri: "a://1" } }, RESULT] },
    [/Damaged resource.*a:\/\/1/, "RESULT"],
  ],
  [
    "null as a resource",
    { content: [{ type: "resource", resource: null }, RESULT] },
    [/Damaged resource/, "RESULT"],
  ],
  [
    "a resource without a uri",
    { content: [{ type: "resource", resource: { text: "hi" } }] },
    [/"text":"hi"/],
  ],
  [
    "bytes of a resource that are not base64",
    { content: [{ type: "resource", resource: { uri: "a://1", blob: "%" } }] },
    [/Damaged resource: a:\/\/1/],
  ],
  [
    "a link without a name",
    { content: [{ type: "resource_link", uri: "a://1" }] },
    ["[Resource: a://1 a://1]"],
  ],
  [
    "a link without a uri",
    { content: [{ type: "resource_link", name: "x" }, RESULT] },
    [/Damaged resource_link/, "RESULT"],
  ],
  ["structured content beside nothing", { structuredContent: { degrees: 21 } }, ['{"degrees":21}']],
  ["a list as structured content", { structuredContent: [1, 2] }, ["[1,2]"]],
  ["null as structured content", { content: [RESULT], structuredContent: null }, ["RESULT"]],
  ["the older toolResult", { toolResult: { degrees: 21 } }, ['{"degrees":21}']],
  ["no envelope", { degrees: 21 }, ['{"degrees":21}']],
  ["a text as result", "RESULT", ["RESULT"]],
  ["null as result", { raw: '{"jsonrpc":"2.0","id":$id,"result":null}' }, []],
  ["an error as text", { content: [RESULT], isError: "true" }, ["RESULT"], true],
  [
    "a field that says that it is not an error",
    { content: [RESULT], isError: null },
    ["RESULT"],
    false,
  ],
];

// Compiled and run in a project with some version of zod: schemas of the project's own copy reach a model, and type answers.
import { deepStrictEqual, strictEqual } from "node:assert";
import { AssistantAgent, FunctionTool, run } from "troupe";
import { ScriptedChatCompletionClient } from "troupe/testing";
import * as z from "zod";

const forecast = new FunctionTool({
  name: "forecast",
  description: "The weather of tomorrow.",
  parameters: z.object({
    city: z.string().describe("The name of a city."),
    days: z.number().int().min(1).default(1),
    units: z.enum(["celsius", "kelvin"]).optional(),
    near: z.array(z.object({ lat: z.number(), lon: z.number() })).nullable(),
  }),
  execute: ({ city, days, near }) => `${city.toUpperCase()} ${days.toFixed()} ${near?.length ?? 0}`,
  policy: "retry",
});
const answer = z.object({ celsius: z.number().describe("In the shade.") });
const modelClient = new ScriptedChatCompletionClient([
  [{ id: "1", name: "forecast", arguments: '{"city":"Oslo","near":null}' }],
  '{"celsius":-3}',
]);
const agent = new AssistantAgent({
  name: "guide",
  modelClient,
  tools: [forecast],
  outputContentType: answer,
});
const result = await run(agent, "How cold is it in Oslo?");
const celsius: number = result.output.celsius;
strictEqual(celsius, -3);
const [first, second] = modelClient.requests;
deepStrictEqual(first?.options.tools?.[0]?.parameters, {
  type: "object",
  properties: {
    city: { title: "City", type: "string", description: "The name of a city." },
    days: { title: "Days", type: "integer", minimum: 1, default: 1 },
    units: { title: "Units", type: "string", enum: ["celsius", "kelvin"] },
    near: {
      title: "Near",
      anyOf: [
        {
          type: "array",
          items: {
            type: "object",
            properties: { lat: { type: "number" }, lon: { type: "number" } },
            required: ["lat", "lon"],
            additionalProperties: false,
          },
        },
        { type: "null" },
      ],
    },
  },
  required: ["city", "near"],
  additionalProperties: false,
});
const format = second?.options.jsonOutput;
if (typeof format !== "object" || format === null) throw new Error("no format");
deepStrictEqual(format.schema["properties"], {
  celsius: { type: "number", description: "In the shade." },
});
// @ts-expect-error -- the compiler knows the content
export const unknown = result.output.kelvin;

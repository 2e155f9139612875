import { isJsonObject } from "#core/json.ts";
import { resultText } from "#core/tools/tool-result.ts";
import type { Message, Workbench } from "troupe";
import { asJson, type Op, text } from "./op.ts";

export const listTools: Op = async (_step, world) => ({
  tools: asJson(await world.subject<Workbench>("workbench").listTools({ ctx: world.scope() })),
});

export const callTool: Op = async (step, world) => {
  const args = step["arguments"];
  const call = world
    .subject<Workbench>("workbench")
    .callTool(text(step, "name"), isJsonObject(args) ? args : {}, {
      ctx: world.scope(),
      callId: undefined,
    });
  const items: Message[] = [];
  let next = await call.next();
  while (!next.done) {
    items.push(next.value);
    next = await call.next();
  }
  const result = asJson(next.value);
  return {
    ...("result" in step && { result }),
    ...("text" in step && { text: resultText(next.value) }),
    ...("items" in step && { items: [...items.map(asJson), result] }),
  };
};

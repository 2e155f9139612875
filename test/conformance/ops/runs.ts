import type { ChatAgent, Component, Runnable, Stateful, Workbench } from "troupe";
import { reset as resetSubject, run as runSubject, runStream, type Json, type Task } from "troupe";
import { isJsonObject } from "#core/json.ts";
import { thrown } from "../host.ts";
import { asJson, type FallibleOp, type Op } from "./op.ts";

type Runner = Component & (Runnable | ChatAgent);

export const run: FallibleOp = async (step, world) => {
  const options = {
    task: (step["task"] ?? null) as Task,
    outputTaskMessages: step["output_task_messages"] !== false,
    answer: world.human.answer,
  };
  const events: Json[] = [];
  try {
    const subject = world.subject<Runner>("team", "agent");
    if (step["stream"] === false) {
      events.push(asJson(await runSubject(subject, options)));
    } else {
      for await (const event of runStream(subject, options)) events.push(asJson(event));
    }
    return { actual: { events } };
  } catch (error) {
    return { actual: { events }, error: thrown(error) };
  }
};

export const saveState: Op = (_step, world) => ({
  state: asJson(world.subject<Component & Stateful>().saveState()),
});

export const loadState: Op = (step, world) => {
  const state = step["state"] ?? null;
  world.subject<Component & Stateful>().loadState(isJsonObject(state) ? state : (state as never));
  return {};
};

export const reset: Op = async (_step, world) => {
  const subject = world.subject();
  if (subject.definition.role === "workbench") await world.subject<Workbench>().reset();
  else await resetSubject(world.subject<Runner>("team", "agent"));
  return {};
};

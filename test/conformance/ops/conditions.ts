import type { Json, TerminationCondition } from "troupe";
import { loadMessage } from "troupe";
import { thrown } from "../host.ts";
import type { World } from "../world.ts";
import { asJson, type FallibleOp, list, type Op } from "./op.ts";

/** The memory of a condition that stands alone: in a team the team keeps it. */
interface Watch {
  state: Json;
  startedAt: number;
}

const WATCHES = new WeakMap<TerminationCondition, Watch>();

function watched(world: World): [TerminationCondition, Watch] {
  const condition = world.subject<TerminationCondition>("termination");
  const watch = WATCHES.get(condition) ?? {
    state: condition.initialState(),
    startedAt: Date.now(),
  };
  WATCHES.set(condition, watch);
  return [condition, watch];
}

export const check: FallibleOp = async (step, world) => {
  const [condition, watch] = watched(world);
  const messages = list(step, "messages").map((item) => loadMessage(item, world.origin));
  const terminated = (): boolean => condition.terminated(watch.state);
  try {
    const elapsedMs = Date.now() - watch.startedAt;
    const { state, stop } = condition.check(watch.state, messages, { elapsedMs });
    watch.state = state;
    return { actual: { result: asJson(stop), terminated: terminated() } };
  } catch (error) {
    return { actual: { terminated: terminated() }, error: thrown(error) };
  }
};

export const conditionReset: Op = (_step, world) => {
  const [condition, watch] = watched(world);
  watch.state = condition.reset();
  watch.startedAt = Date.now();
  return {};
};

export const wait: Op = async (step) => {
  await new Promise((resolve) => setTimeout(resolve, Number(step["ms"])));
  return {};
};

export const setExternalTermination: Op = (_step, world) => {
  world.standIns.switches.press();
  return {};
};

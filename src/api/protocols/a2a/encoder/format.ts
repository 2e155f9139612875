import * as z from "zod";
import type { StreamFormat } from "../../../../contract/gateways/team-gateway.ts";
import type { RpcId } from "../wire/wire.ts";

/** The names of the formats of streams and push notifications: of each binding and version. */
export type A2AFormat = "a2a" | "a2a-rest" | "a2a-0.3";

export const streamOptionsSchema = z.object({
  id: z.union([z.string(), z.number(), z.null()]) satisfies z.ZodType<RpcId>,
  /** The caller's own id of the conversation; by default the team's. */
  contextId: z.string().exactOptional(),
  historyLength: z.number().exactOptional(),
  /** Ids of the questions that the request answers: the task is working again. */
  answering: z.array(z.string()).exactOptional(),
  /** The stream stays open while the task waits, up to its end. */
  toEnd: z.boolean().exactOptional(),
});
export type A2AStreamOptions = z.output<typeof streamOptionsSchema>;

export function formatOf(
  { id, format: name }: { id: RpcId; format: A2AFormat },
  {
    contextId,
    historyLength,
    answering,
    toEnd,
  }: Omit<A2AStreamOptions, "id" | "historyLength"> & { historyLength?: number | undefined },
): StreamFormat {
  const options = {
    id,
    ...(contextId !== undefined && { contextId }),
    ...(historyLength !== undefined && { historyLength }),
    ...(answering !== undefined && { answering }),
    ...(toEnd !== undefined && { toEnd }),
  } satisfies A2AStreamOptions;
  return { name, options };
}

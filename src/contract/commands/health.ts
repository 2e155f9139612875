import * as z from "zod";
import { CODE_PLACES } from "../code-place.ts";
import { command } from "./command.ts";

export const healthSchema = z.object({
  status: z.literal("ok"),
  code: z
    .enum(CODE_PLACES)
    .describe(
      "Where code runs: the first place that is configured, and that the setting CODE allows.",
    ),
  sandbox: z
    .enum(["starting", "ready", "off"])
    .optional()
    .describe("The sandbox that `npm start` brings; missing on a deployed Worker."),
});

export type Health = z.infer<typeof healthSchema>;

/** The command that monitoring calls. */
export const healthCommands = {
  health: command({
    method: "get",
    path: "/healthz",
    summary: "Whether the service answers",
    tag: "Service",
    scope: null,
    answers: {
      200: { description: "It does.", schema: { Health: healthSchema } },
    },
  }),
};

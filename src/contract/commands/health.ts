import * as z from "zod";
import { command } from "./command.ts";

/** The command that monitoring calls. */
export const healthCommands = {
  health: command({
    method: "get",
    path: "/healthz",
    summary: "Whether the service answers",
    tag: "Service",
    scope: null,
    answers: {
      200: { description: "It does.", schema: { Health: z.object({ status: z.literal("ok") }) } },
    },
  }),
};

import * as z from "zod";
import type { JsonObject } from "../json.ts";
import { asData } from "../options/option-names.ts";

const shallowObjectSchema = z.record(z.string(), z.unknown()) as z.ZodType<JsonObject>;

/** Component JSON (AutoGen `ComponentModel`). Kept open: unknown keys beside these are ignored. */
export const componentModelSchema = asData(
  z.object({
    provider: z.string(),
    component_type: z.string().nullish(),
    version: z.number().int().nullish(),
    component_version: z.number().int().nullish(),
    description: z.string().nullish(),
    label: z.string().nullish(),
    /** Refused here, because only `config.approval` is read: the key would have no effect. */
    approval: z.null({ error: "belongs in the config" }).optional(),
    // Checked by the component's own schema; a deep check here would run again at every level of nesting.
    config: shallowObjectSchema,
  }),
);
export type ComponentModel = z.infer<typeof componentModelSchema>;

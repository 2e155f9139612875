import * as z from "zod";
import type { JsonObject } from "./json.ts";

export const jsonObjectSchema = z.record(z.string(), z.json()) as z.ZodType<JsonObject>;

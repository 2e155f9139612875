import * as z from "zod";
import { LONGEST_USER } from "./constants.ts";

/** The user for whom a request is: one of the people that an application serves. */
export const userSchema = z
  .string()
  .min(1, "must not be empty")
  .max(LONGEST_USER, `must be at most ${LONGEST_USER} characters`)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, "must be text without control characters")
  .meta({ examples: ["user-4711"] });

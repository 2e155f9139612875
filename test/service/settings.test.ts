import { expect, test } from "vitest";
import { unknownLimits } from "#service/parse-settings.ts";
import { SETTING_NAMES } from "#service/settings.ts";

test("variables that resemble a limit of tenants are named, with the nearest limit", () => {
  const env = {
    TENANT: {},
    TENANT_BINDING: {},
    TENANT_KEYS: "10",
    TENANT_TEAM: "5",
    TENANT_COLOUR_OF_THE_CONSOLE: "red",
    TENANT_NOTHING: "",
  };
  const limits = SETTING_NAMES.filter((name) => name.startsWith("TENANT_"));
  expect(unknownLimits(env)).toEqual([
    "TENANT_TEAM is not a setting and has no effect. Did you mean TENANT_TEAMS?",
    `TENANT_COLOUR_OF_THE_CONSOLE is not a setting and has no effect. The limits are ${limits.join(", ")}.`,
  ]);
});

import { expect, test } from "vitest";
import { limitSettings, tenantLimitsFrom } from "#contract/tenant/tenant-limits.ts";

test("limits of a program hold like the settings that they replace", () => {
  const settings = limitSettings({
    activeRuns: 5,
    tokensPerDay: 1000,
    costPerDay: 2.5,
    teams: undefined,
  });
  expect(tenantLimitsFrom(settings)).toEqual({
    ...tenantLimitsFrom({}),
    active_runs: 5,
    tokens_per_day: 1000,
    cost_per_day: 2.5,
  });
});

test("null means no limit if there is no default", () => {
  expect(limitSettings({ tokensPerMonth: null })).toEqual({});
  expect(() => limitSettings({ activeRuns: null })).toThrow("limits.activeRuns is null");
});

test.each([
  [{ active_runs: 5 }, "limits.active_runs is not an option; use requestsPerSecond, teams,"],
  [{ activeRuns: -1 }, "limits.activeRuns is -1: it must be a whole number, 0 or more"],
  [{ activeRuns: "5" }, 'limits.activeRuns is "5": it must be a whole number'],
  [{ activeRuns: 1.5 }, "limits.activeRuns is 1.5"],
  [{ costPerMonth: -1 }, "limits.costPerMonth is -1: it must be a number, 0 or more"],
])("an invalid option is named: %j", (options, message) => {
  expect(() => limitSettings(options)).toThrow(message);
});

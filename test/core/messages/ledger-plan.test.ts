import { expect, test } from "vitest";
import { ledgerPlan, PLAN_HEADING } from "#core/messages/ledger-plan.ts";

test("the steps of a plan are its numbered lines and items", () => {
  const text = `The task\n\n1. Not a step\n\n${PLAN_HEADING}\n\n1. Search the web\n2) Write\n- Check\nA remark`;
  expect(ledgerPlan(text)).toEqual(["Search the web", "Write", "Check"]);
});

test("a text without the heading of a plan, or without steps, has no plan", () => {
  expect(ledgerPlan("1. Search the web")).toBeUndefined();
  expect(ledgerPlan(`${PLAN_HEADING}\n\nJust do it.`)).toBeUndefined();
});

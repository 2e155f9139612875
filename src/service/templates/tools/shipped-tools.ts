import { Catalog } from "../../../core/tools/catalog.ts";
import { calculator } from "./calculator.ts";
import { currentTime } from "./current-time.ts";
import { findOrder } from "./find-order.ts";
import { refundOrder } from "./refund-order.ts";

/**
 * The tools of the teams that Troupe ships. They have their own catalog, so that their names never collide with those of a
 * deployment.
 */
export function shippedTools(): Catalog {
  const catalog = new Catalog();
  for (const tool of [calculator, currentTime, findOrder, refundOrder]) catalog.registerTool(tool);
  return catalog;
}

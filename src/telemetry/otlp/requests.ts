/** Builds the requests of reports; loaded with the first one. */
export { metricsRequest } from "./metrics.ts";
export { tracesRequest } from "./traces.ts";

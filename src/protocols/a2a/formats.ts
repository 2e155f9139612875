import type { FormatCode } from "../../contract/stream/stream-format.ts";
import { a2aEncoder } from "./encoder.ts";
import type { A2AFormat } from "./format.ts";
import { legacyPushBody, pushBody } from "./push-body.ts";
import { shownEvent } from "./v0-3/shown.ts";
import { rpcResult } from "./wire.ts";

/** What writes the streams and push notifications of each binding and version. */
export const a2aFormats: Readonly<Record<A2AFormat, FormatCode>> = {
  a2a: { makeEncoder: a2aEncoder((response, { id }) => rpcResult(id, response)), pushBody },
  "a2a-rest": { makeEncoder: a2aEncoder((response) => JSON.stringify(response)), pushBody },
  "a2a-0.3": {
    makeEncoder: a2aEncoder((response, { id }) => rpcResult(id, shownEvent(response))),
    pushBody: legacyPushBody,
  },
};

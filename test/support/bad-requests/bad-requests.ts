// Requests that must be refused, as data: sent to the app in memory and to the Worker in workerd. They need an API open
// to local requests with a team called `team`, in which a run is going on.

import { addresses } from "./addresses.ts";
import { bytes } from "./bytes.ts";
import { components } from "./components.ts";
import { fields } from "./fields.ts";
import { parameters } from "./parameters.ts";
import { schedules } from "./schedules.ts";
import type { BadRequest } from "./row.ts";

export const BAD_REQUESTS: readonly BadRequest[] = [
  ...bytes,
  ...addresses,
  ...parameters,
  ...fields,
  ...components,
  ...schedules,
];

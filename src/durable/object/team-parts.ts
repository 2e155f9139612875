import type { Refused } from "../../contract/result.ts";
import type { StartRunInput } from "../../contract/gateways/team-gateway.ts";
import type { TenantLimits } from "../../contract/tenant.ts";
import type { ComponentModel } from "../../core/component/component-model.ts";
import type { Log } from "../../core/log.ts";
import type { CostOf } from "../../contract/usage/model-usage.ts";
import type { Runnable } from "../../core/run/runnable.ts";
import type { ComponentSecrets } from "../../secrets/component-secrets.ts";
import type { Listing } from "../outbox/listing.ts";
import type { Outbox } from "../outbox/outbox.ts";
import { RunController } from "../run/run-controller.ts";
import { type BuildReadable, TeamCache } from "../run/team-cache.ts";
import { ScheduleService } from "../schedules/schedule-service.ts";
import type { Telemetry } from "../../telemetry/telemetry.ts";
import { RunTelemetry } from "../telemetry/run-telemetry.ts";
import { Scheduler } from "../schedules/scheduler.ts";
import { StateTarget } from "../state-parts/state-target.ts";
import type { Stores } from "../storage/stores.ts";
import { makePlace } from "../stream/stream-places.ts";
import { LiveFeed } from "../stream/live-feed.ts";
import { Expiry } from "./expiry.ts";
import { Quota } from "./quota.ts";
import { RunService } from "./run-service.ts";
import type { TeamAlarm } from "./team-alarm.ts";
import { TeamService } from "./team-service.ts";

/** The parts of an object that holds a team. */
export interface TeamParts {
  stores: Stores;
  /** Undefined for a team that no tenant lists. */
  outbox: Outbox | undefined;
  quota: Quota;
  controller: RunController;
  live: LiveFeed;
  team: TeamService;
  runs: RunService;
  costOf: CostOf;
  schedules: ScheduleService;
  scheduler: Scheduler;
  expiry: Expiry;
  stateParts: StateTarget;
}

/** What the parts need of their object and of its deployment. */
export interface TeamHost {
  storage: DurableObjectStorage;
  stores: Stores;
  alarm: TeamAlarm;
  listing: Listing;
  secrets: ComponentSecrets;
  /** The deployment's limits; those of the tenant come with its answers. */
  limits: TenantLimits;
  /** Milliseconds that streams stay open once a run waits for a human. */
  restMs: number;
  build: (component: ComponentModel) => Runnable | Promise<Runnable>;
  log: Log;
  costOf: CostOf;
  telemetry: Telemetry | undefined;
}

/** Loads a stored team. */
export function loadParts(host: TeamHost): TeamParts {
  const { storage, stores, alarm, listing, secrets } = host;
  const live = new LiveFeed({
    restMs: host.restMs,
    settle: () => stores.db.settle(),
    textOrigin: () => ({ after: stores.log.last, restarts: controller.active?.restarts ?? 0 }),
  });
  const build = async (sealed: ComponentModel): Promise<Runnable> =>
    host.build(await secrets.open(sealed));
  const buildReadable: BuildReadable = async (sealed) => {
    const { component, unreadable } = await secrets.openReadable(sealed);
    return { runnable: await host.build(component), runs: unreadable.length === 0 };
  };
  const cache = new TeamCache(stores, build);
  const { log, costOf } = host;
  const telemetry = new RunTelemetry(host.telemetry, {
    team: () => stores.team.record.id,
    tenant: listing.tenantName ?? null,
  });
  const controller = new RunController({
    storage,
    alarm,
    stores,
    live,
    team: cache,
    log,
    costOf,
    telemetry,
  });
  const quota = new Quota({
    team: stores.team.record.id,
    tenant: listing.tenant,
    limits: host.limits,
    storedBytes: () => storage.sql.databaseSize,
    openStreams: () => live.streams,
    tellMessages: (wanted) => stores.announcer.setWantsMessages(wanted),
  });
  live.onLeave = () => quota.streamEnded();
  const runs = new RunService(stores, controller);
  const refuse = (input: StartRunInput): Promise<Refused | undefined> =>
    refuseRun({ runs, quota }, input, false);
  const scheduler = new Scheduler({ stores, alarm, runs, refuse });
  const stateParts = new StateTarget({ stores, alarm, build: buildReadable });
  return {
    stores,
    outbox: listing.open(stores, alarm, quota),
    quota,
    controller,
    live,
    team: new TeamService({ stores, controller, cache, build, buildReadable, secrets, stateParts }),
    runs,
    costOf,
    schedules: new ScheduleService({ stores, scheduler, runs, refuse }),
    scheduler,
    expiry: new Expiry({ stores, alarm, controller }),
    stateParts,
  };
}

/** Asks the tenant whether the run may start, unless the request starts none. */
export async function refuseRun(
  { runs, quota }: Pick<TeamParts, "runs" | "quota">,
  input: StartRunInput,
  stream: boolean,
): Promise<Refused | undefined> {
  const starts = runs.starts(input);
  return starts && quota.refuseRun(starts, { task: input.task, stream });
}

/** The same for a run that is started with its stream. */
export function placeOfRun(
  parts: Pick<TeamParts, "runs" | "quota" | "live">,
  input: StartRunInput,
  credential: string,
): Promise<Refused | undefined> {
  const { live, quota } = parts;
  return makePlace(live, credential, quota.streamsPerCredential, () =>
    refuseRun(parts, input, true),
  );
}

/** A place for one more stream of a credential. */
export function placeOfStream(
  { live, quota }: Pick<TeamParts, "quota" | "live">,
  credential: string,
): Promise<Refused | undefined> {
  return makePlace(live, credential, quota.streamsPerCredential, () => quota.refuseStream());
}

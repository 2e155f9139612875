import type { Result } from "../../../contract/result.ts";
import type { StartRunInput } from "../../../contract/gateways/team-gateway.ts";
import type { TenantLimits } from "../../../contract/tenant/tenant.ts";
import type { ComponentModel } from "../../../core/component/component-model.ts";
import type { Log } from "../../../core/log.ts";
import type { CostOf } from "../../../contract/usage/model-usage.ts";
import type { Runnable } from "../../../core/run/runnable.ts";
import type { ComponentSecrets } from "../../../secrets/component-secrets.ts";
import type { Listing } from "../../directory-link/listing.ts";
import type { Outbox } from "../../storage/outbox/outbox.ts";
import { LateEnds } from "../../engine/late-ends.ts";
import { RunEngine } from "../../engine/run-engine.ts";
import { TenantBudget } from "../../engine/journal/tenant-budget.ts";
import { type BuildReadable, TeamCache } from "../../engine/team-cache.ts";
import { ScheduleService } from "../../schedules/schedule-service.ts";
import type { Telemetry } from "../../../telemetry/telemetry.ts";
import { RunTelemetry } from "../../engine/views/run-telemetry.ts";
import { Scheduler } from "../../schedules/scheduler.ts";
import { StateTarget } from "../../state-parts/state-target.ts";
import type { Stores } from "../../storage/stores.ts";
import { LiveFeed } from "../../stream/live-feed.ts";
import { MemoryDelivery } from "../../directory-link/memory-delivery.ts";
import { RemoteCancels } from "../../directory-link/remote-cancels.ts";
import { TeamEmbeddings } from "../../directory-link/team-embeddings.ts";
import { WordRenewal } from "../../storage/team-memory.ts";
import { type MemoryObjects, TenantMemories } from "../../directory-link/tenant-memories.ts";
import { TenantSkills } from "../../directory-link/tenant-skills.ts";
import { BoardService } from "./board-service.ts";
import { ComponentService } from "./component-service.ts";
import { IdleChanges } from "./idle-changes.ts";
import type { RequestParts } from "./request-of-step.ts";
import { Expiry } from "./expiry.ts";
import { Quota } from "./quota.ts";
import { type AdmissionDecision, RunAdmission } from "../../engine/requests/admission.ts";
import { RunPushConfigs } from "../../engine/requests/run-push-configs.ts";
import { RunSteering } from "../../engine/requests/steering.ts";
import { RunAnswers } from "../../engine/requests/run-answers.ts";
import { RunService } from "../../engine/requests/run-service.ts";
import type { TeamAlarm } from "../../storage/team-alarm.ts";
import { TeamService } from "./team-service.ts";

/** The parts of an object that holds a team. */
export interface TeamParts {
  stores: Stores;
  /** Undefined for a team that no tenant lists. */
  outbox: Outbox | undefined;
  /** Undefined without the binding MEMORY. */
  memoryDelivery: MemoryDelivery | undefined;
  remoteCancels: RemoteCancels;
  lateEnds: LateEnds;
  embeddings: TeamEmbeddings;
  words: WordRenewal;
  quota: Quota;
  /** Undefined for a team that no tenant lists. */
  budget: TenantBudget | undefined;
  engine: RunEngine;
  live: LiveFeed;
  team: TeamService;
  component: ComponentService;
  board: BoardService;
  admission: RunAdmission;
  steering: RunSteering;
  runs: RunService;
  answers: RunAnswers;
  pushConfigs: RunPushConfigs;
  /** The decision about a request for a run, if the tenant allows it. */
  admit: (input: StartRunInput) => Promise<Result<AdmissionDecision>>;
  costOf: CostOf;
  /** The parts that run a past turn once more. */
  replay: Omit<RequestParts, "stores" | "engine">;
  schedules: ScheduleService;
  scheduler: Scheduler;
  expiry: Expiry;
  stateParts: StateTarget;
}

/** The parts' view of their object and of its deployment. */
export interface TeamHost {
  storage: DurableObjectStorage;
  stores: Stores;
  alarm: TeamAlarm;
  listing: Listing;
  secrets: ComponentSecrets;
  /** The deployment's limits; those of the tenant come with its answers. */
  limits: TenantLimits;
  /** Milliseconds that streams stay open once a run waits for a human. */
  idleMs: number;
  build: (component: ComponentModel) => Runnable | Promise<Runnable>;
  log: Log;
  costOf: CostOf;
  telemetry: Telemetry | undefined;
  /** Bindings of the Worker, for agents and tools. */
  env: object;
  /** Finds the memories of a tenant; undefined without the binding MEMORY. */
  memories: (tenant: string) => MemoryObjects | undefined;
}

/** Loads a stored team. */
export function loadParts(host: TeamHost): TeamParts {
  const { storage, stores, alarm, listing, secrets } = host;
  const { id } = stores.team.record;
  const live = new LiveFeed({
    idleMs: host.idleMs,
    db: stores.db,
    log: stores.log,
    restarts: () => engine.active?.restarts ?? 0,
  });
  const build = async (sealed: ComponentModel): Promise<Runnable> =>
    host.build(await secrets.open(sealed));
  const buildReadable: BuildReadable = async (sealed) => {
    const { component, unreadable } = await secrets.openReadable(sealed);
    return { runnable: await host.build(component), runs: unreadable.length === 0 };
  };
  const cache = new TeamCache(stores, build);
  const { log, costOf, env } = host;
  const telemetry =
    host.telemetry &&
    new RunTelemetry(host.telemetry, {
      team: id,
      tenant: listing.tenantName ?? null,
    });
  const memories = openMemories(host);
  const others = memories && new TenantMemories(memories.objects, memories.delivery);
  const { tenant } = listing;
  const budget = tenant && new TenantBudget(id, tenant);
  const engine = new RunEngine({
    storage,
    alarm,
    stores,
    live,
    team: cache,
    log,
    costOf,
    telemetry,
    env,
    memories: others,
    skills: tenant && new TenantSkills(tenant),
    budget,
    tenant,
  });
  const quota = new Quota({
    team: id,
    tenant,
    limits: host.limits,
    storage,
    live,
    budget,
    announcer: stores.announcer,
    log,
  });
  live.onLeave = () => quota.streamEnded();
  const steering = new RunSteering(stores, engine, cache);
  const admission = new RunAdmission(stores, engine, steering);
  const runs = new RunService(stores, engine, admission);
  const answers = new RunAnswers(stores, engine, runs);
  const admit = (input: StartRunInput): Promise<Result<AdmissionDecision>> =>
    admission.admit(input, (decided) => quota.admit(decided, input.task));
  const scheduler = new Scheduler({ stores, alarm, runs, admit });
  const stateParts = new StateTarget({ stores, alarm, build: buildReadable });
  const changes = new IdleChanges({ stores, engine, cache, buildReadable });
  const team = new TeamService({ stores, engine, cache, changes, secrets, stateParts });
  return {
    stores,
    budget,
    outbox: listing.open(stores, alarm, quota),
    memoryDelivery: memories?.delivery,
    remoteCancels: new RemoteCancels({ stores, alarm, build, log }),
    lateEnds: new LateEnds({
      stores,
      alarm,
      build,
      costOf,
      env,
      memories: others,
      isRunning: () => engine.active?.idle === false,
    }),
    embeddings: new TeamEmbeddings(stores.memory, cache, alarm),
    words: new WordRenewal(stores.memory, alarm),
    quota,
    engine,
    live,
    team,
    component: new ComponentService({
      stores,
      changes,
      build,
      buildReadable,
      secrets,
      info: () => team.info(),
    }),
    board: new BoardService({ stores, engine, cache, changes }),
    admission,
    steering,
    runs,
    answers,
    pushConfigs: new RunPushConfigs(stores, engine),
    admit,
    costOf,
    replay: {
      build: (component) => host.build(component),
      secrets,
      env,
      hasMemories: memories !== undefined,
    },
    schedules: new ScheduleService({ stores, scheduler, runs, admit }),
    scheduler,
    expiry: new Expiry({ stores, alarm, engine }),
    stateParts,
  };
}

/** Connects the team with the memories of its tenant, and delivers entries that an earlier instance left. */
function openMemories({
  stores,
  alarm,
  listing,
  memories,
}: TeamHost): { objects: MemoryObjects; delivery: MemoryDelivery } | undefined {
  const objects = listing.tenantName === undefined ? undefined : memories(listing.tenantName);
  if (objects === undefined) return undefined;
  const { id, created_at } = stores.team.record;
  const delivery = new MemoryDelivery({
    outbox: stores.memoryOutbox,
    creation: `${id} ${created_at}`,
    find: (target) => objects.of(target),
    deliveryEnded: () => alarm.set(),
  });
  alarm.serve(delivery);
  if (delivery.dueAt !== null) void delivery.deliver();
  return { objects, delivery };
}

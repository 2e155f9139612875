import type { ComponentModel } from "../../core/component/component-model.ts";
import type { EmbeddingClient } from "../../core/memory/embedding-client.ts";
import type { TeamOfMemories } from "../../contract/gateways/memory-gateway.ts";
import {
  REPEATABLE_CALLS_OF_MEMORIES,
  type TenantOfMemories,
} from "../../contract/gateways/tenant-gateway.ts";
import { refuse, type Refused, type Result } from "../../contract/result.ts";
import type { SecretOwners } from "../../secrets/kept-secrets.ts";
import { SealedSecrets } from "../../secrets/sealed-secrets.ts";
import { Database } from "../../sqlite/database.ts";
import { remoteObject, teamNamed, tenantNamed } from "../../sqlite/remote-methods.ts";
import { migrateTables, type TableVersions } from "../../sqlite/table-versions.ts";
import { Collection } from "../documents/collection.ts";
import { KeptMemories } from "../entries/kept-memories.ts";
import { OutsideSearch } from "../vectors/outside-search.ts";
import { OutsideVectors } from "../vectors/outside-vectors.ts";
import type { VectorService } from "../vectors/vector-service.ts";
import { Chores } from "./chores.ts";
import { TenantLedger } from "./tenant-ledger.ts";

/** The tables of objects of memories. Which of them exist depends on what an object holds: each is made with its first row. */
const MEMORY_TABLES: TableVersions = {
  // Objects of earlier versions have no number.
  unnumbered: 0,
  migrations: [["create table meta (name text primary key, value text) without rowid"]],
};

/** Dependencies of an object of memories on its Worker. */
export interface MemoryEnv {
  TENANT?: DurableObjectNamespace;
  /** Embeds what people add and ask, with the clients of the teams that use it. */
  TEAM?: DurableObjectNamespace;
  /** Encrypts the secrets of embedding clients. */
  SECRETS_KEY?: string;
  /** Searches the vectors that an object has too many of. */
  VECTORIZE?: VectorService;
  /** @see vectorizeAbove */
  VECTORIZE_ABOVE?: string;
}

/** The parts' view of their object and of its deployment. */
export interface MemoryPartsHost {
  ctx: DurableObjectState;
  env: MemoryEnv;
  /** Builds an embedding client. @throws ComponentError */
  embedding: (component: ComponentModel) => Promise<EmbeddingClient>;
  secretOwners: () => SecretOwners;
  /** The most bytes that it stores. */
  maxBytes: () => number;
  /** The number of vectors above which the binding VECTORIZE is used. */
  vectorizeAbove: number;
}

/** The parts of an object of memories. */
export interface MemoryParts {
  collection: Collection;
  memories: KeptMemories;
  vectors: OutsideVectors;
  chores: Chores;
}

/** Loads what is stored. Writes nothing for an object that holds nothing. @throws NewerDataError */
export function loadParts(host: MemoryPartsHost): MemoryParts {
  const { ctx, env } = host;
  const [tenant = "", ...path] = (ctx.id.name ?? "").split("/");
  const name = path.join("/");
  const owner = (): TenantOfMemories => {
    if (env.TENANT === undefined) throw new TypeError("the binding TENANT is missing");
    return remoteObject<TenantOfMemories>(
      env.TENANT,
      tenantNamed(tenant),
      REPEATABLE_CALLS_OF_MEMORIES,
    );
  };
  const id = path.slice(1).join("/");
  const db = new Database(ctx.storage);
  if (db.hasTables()) migrateTables(db, MEMORY_TABLES);
  const announce = async (change: { adds: boolean }): Promise<Result<null>> => {
    const announced = await ledger.announce(change);
    if (announced.ok) migrateTables(db, MEMORY_TABLES);
    return announced;
  };
  const isCollection = path[0] === "collection";
  const ledger = new TenantLedger({
    name,
    tenant: owner,
    stored: () => ({ bytes: db.size, empty: !isCollection && memories.entries.index.isEmpty }),
  });
  const refuseStored = (): Refused | undefined => {
    if (db.size < host.maxBytes()) return undefined;
    return refuse(
      507,
      "too_many_stored_bytes",
      `The ${path.length > 1 ? `${path[0]} ${JSON.stringify(path.slice(1).join("/"))}` : "tenant"} stores ${db.size} bytes of memories or documents; the setting MAX_MEMORY_BYTES allows ${host.maxBytes()}. Delete some of them first.`,
      { limit: "max_memory_bytes", value: host.maxBytes() },
    );
  };
  const shared = {
    db,
    refuseStored,
    outside: () => outside,
    changed: () => {
      vectors.check();
      ledger.changed();
    },
  };
  const memories = new KeptMemories({
    ...shared,
    announce,
    scope: path[0] === "user" ? "user" : "tenant",
    team(team) {
      if (env.TEAM === undefined) throw new TypeError("the binding TEAM is missing");
      return remoteObject<TeamOfMemories>(env.TEAM, teamNamed(tenant, team), ["embedTexts"]);
    },
    refusal: () => ledger.refusal(),
    wake: () => chores.wake("entries", { early: true }),
  });
  const onOutdated = (): void => chores.wake("words", { early: false });
  memories.entries.onOutdated = onOutdated;
  const collection = new Collection({
    ...shared,
    announce: () => announce({ adds: true }),
    id,
    secrets: new SealedSecrets(
      env.SECRETS_KEY,
      {
        loadedPaths: (component) => host.secretOwners().loadedPaths(component),
        keyUrl: (component) => host.secretOwners().keyUrl(component),
      },
      {
        what: `the collection ${JSON.stringify(id)}`,
        field: "embedding",
        put: `PUT /v1/collections/${id}`,
      },
    ),
    embedding: (component) => host.embedding(component),
    withdraw: () => ledger.withdraw(),
    erase: () => eraseStorage(ctx.storage, parts),
    wake: () => chores.wake("embedding", { early: true }),
    onOutdated,
    onAbandoned: () => chores.wake("abandoned", { early: false }),
  });
  const chores = new Chores(ctx.storage, {
    embedding: () => collection.embedPending(),
    entries: () => memories.embedWaiting(),
    vectors: () => vectors.work(),
    abandoned: () => Promise.resolve(collection.sweep()),
    // Other requests come between two calls.
    words: async () => {
      const othersWait = isCollection
        ? collection.renewWords()
        : memories.entries.index.renewWords();
      return Promise.resolve(othersWait ? 0 : undefined);
    },
  });
  const { VECTORIZE: service } = env;
  const above = host.vectorizeAbove;
  const vectors = new OutsideVectors({
    db,
    name: `${tenant}/${name}`,
    get index() {
      return isCollection ? collection.index : memories.entries.index;
    },
    service,
    above,
    wake: () => chores.wake("vectors", { early: false }),
  });
  const outside = new OutsideSearch(vectors, service, above);
  // The object was loaded again, perhaps with another key.
  if (collection.isLocked) chores.wake("embedding", { early: true });
  const parts = { collection, memories, vectors, chores };
  return parts;
}

/** Erases everything. What has to be deleted in the service is known until that is done. */
async function eraseStorage(
  storage: DurableObjectStorage,
  { vectors, chores }: MemoryParts,
): Promise<void> {
  const remains = vectors.leave();
  if (remains) {
    chores.wake("vectors", { early: true });
  } else {
    await storage.deleteAll();
    // Not before: an object that is killed in between would keep its data without the alarm that continues its work. Deleting
    // an alarm that is not set would store something for an object that holds nothing.
    if ((await storage.getAlarm()) !== null) await storage.deleteAlarm();
  }
  vectors.forget();
}

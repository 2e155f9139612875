import type {
  ConnectionInfo,
  KeyInfo,
  ListedSkill,
  SkillInfo,
  SkillVersion,
  TenantInfo,
  WebhookInfo,
} from "../../client/index.ts";
import type { Kind } from "./kind.ts";
import { allOf, found, listed } from "./server.ts";

/** The limits of the tenant, which the operator's key sees. */
export const tenantKind: Kind = {
  name: "tenant",

  async *ids({ kind, tenant }) {
    if (kind === "operator") yield tenant;
  },

  async read({ commands }, id, item) {
    await item.json("tenant.json", await commands.json("GET /v1/tenants/:tenant", { tenant: id }));
  },

  // Any tenant that has a key exists. One with a label was set up by an operator.
  async exists({ commands, tenant, kind }) {
    if (kind !== "operator") return false;
    const known = await found(commands.json("GET /v1/tenants/:tenant", { tenant }));
    return known !== undefined && known.label !== null;
  },

  async write({ commands, tenant, kind }, _, context) {
    if (kind !== "operator") {
      return context.note(
        "The limits of the tenant were left out: only the operator's key sets them.",
      );
    }
    const { label, limits } = await context.json<TenantInfo>("tenant.json");
    const known = await found(commands.json("GET /v1/tenants/:tenant", { tenant }));
    // A limit that is the same in both is the default of the deployment, which may change with it.
    const changed = Object.entries(limits).filter(
      ([name, value]) => known?.limits[name as keyof typeof limits] !== value,
    );
    await commands.json(
      "PUT /v1/tenants/:tenant",
      { tenant },
      {
        body: { label, limits: Object.fromEntries(changed) },
      },
    );
  },
};

interface ArchivedSkill {
  /** Oldest first. */
  versions: (Pick<SkillVersion, "version"> & { files: { path: string; base64: string }[] })[];
}

export const skillKind: Kind = {
  name: "skill",

  async *ids({ commands }) {
    const skills = listed(
      (query) => commands.json("GET /v1/skills", {}, { query }),
      (page): readonly ListedSkill[] => page.skills,
    );
    for await (const { name } of skills) yield name;
  },

  async read({ commands }, skill, item) {
    const versions = await allOf(
      listed(
        (query) => commands.json("GET /v1/skills/:skill/versions", { skill }, { query }),
        (page) => page.versions,
      ),
    );
    const archived: ArchivedSkill = { versions: [] };
    for (const { version } of versions.toReversed()) {
      const query = { version };
      const shown: SkillInfo = await commands.json("GET /v1/skills/:skill", { skill }, { query });
      const files: ArchivedSkill["versions"][number]["files"] = [];
      for (const { path } of shown.files) {
        const file = await commands.send(
          "GET /v1/skills/:skill/files/:path",
          { skill, path },
          { query },
        );
        files.push({ path, base64: Buffer.from(await file.arrayBuffer()).toString("base64") });
      }
      archived.versions.push({ version, files });
    }
    await item.json("skill.json", archived);
  },

  exists: async ({ commands }, skill) =>
    (await found(commands.json("GET /v1/skills/:skill", { skill }))) !== undefined,

  async remove({ commands }, skill) {
    await commands.json("DELETE /v1/skills/:skill", { skill });
  },

  async write({ commands }, skill, context) {
    const { versions } = await context.json<ArchivedSkill>("skill.json");
    // An earlier attempt may have put some of them, and the oldest would follow the newest.
    if (context.resumed) await found(commands.json("DELETE /v1/skills/:skill", { skill }));
    for (const { files } of versions) {
      await commands.json(
        "PUT /v1/skills/:skill",
        { skill },
        {
          content: JSON.stringify({ files }),
          headers: { "content-type": "application/json" },
        },
      );
    }
  },
};

export const webhookKind: Kind = {
  name: "webhook",

  async *ids({ commands }) {
    const { webhooks } = await commands.json("GET /v1/webhooks", {});
    for (const { id } of webhooks) yield id;
  },

  async read({ commands }, webhook, item) {
    await item.json("webhook.json", await commands.json("GET /v1/webhooks/:webhook", { webhook }));
  },

  exists: async ({ commands }, webhook) =>
    (await found(commands.json("GET /v1/webhooks/:webhook", { webhook }))) !== undefined,

  async remove({ commands }, webhook) {
    await commands.json("DELETE /v1/webhooks/:webhook", { webhook });
  },

  async write({ commands }, webhook, context) {
    const { url, events, team, description, enabled } =
      await context.json<WebhookInfo>("webhook.json");
    const body = { url, events, team, description, enabled };
    await commands.json("PUT /v1/webhooks/:webhook", { webhook }, { body });
    context.todo(
      `Webhook ${webhook} has a new secret: POST /v1/webhooks/${webhook}/rotate_secret shows one for its receiver.`,
    );
  },
};

/** All of them are one item, which adds to the report of a restore. */
const ALL = "all";

/** Keys cannot be restored: only their hashes are stored, and no call shows them. */
export const keysKind: Kind = {
  name: "keys",

  async *ids() {
    yield ALL;
  },

  async read({ commands }, _, item) {
    const keys = await allOf(
      listed(
        (query) => commands.json("GET /v1/keys", {}, { query }),
        (page) => page.keys,
      ),
    );
    await item.json("keys.json", keys);
  },

  async write(_, __, context) {
    for (const { name, scopes } of await context.json<KeyInfo[]>("keys.json")) {
      context.todo(
        `Make a key again: npx troupe keys create --name ${JSON.stringify(name)} --scopes ${scopes.join(",")}`,
      );
    }
  },
};

/** Connections cannot be restored: their tokens are never shown. */
export const connectionsKind: Kind = {
  name: "connections",

  async *ids() {
    yield ALL;
  },

  async read({ commands }, _, item) {
    const connections = await allOf(
      listed(
        (query) => commands.json("GET /v1/connections", {}, { query }),
        (page) => page.connections,
      ),
    );
    await item.json("connections.json", connections);
  },

  async write(_, __, context) {
    for (const { server, user } of await context.json<ConnectionInfo[]>("connections.json")) {
      const whose = user === null ? "" : ` --user ${JSON.stringify(user)}`;
      context.todo(`Log in again: npx troupe connections add ${server}${whose}`);
    }
  },
};

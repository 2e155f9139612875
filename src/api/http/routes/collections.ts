import { beginningOf } from "../../../core/cut.ts";
import {
  type CollectionInfo,
  type CollectionPage,
  DOCUMENT_ID,
} from "../../../contract/files/collection.ts";
import { collectionCommands } from "../../../contract/commands/collections.ts";
import type { Refused } from "../../../contract/result.ts";
import { isUnreadable } from "../../../contract/stored-data.ts";
import { tokensOfCall } from "../../../contract/usage/model-usage.ts";
import type { ComponentModel } from "../../../core/component/component-model.ts";
import type { JsonObject } from "../../../core/json.ts";
import { commandEndpoints } from "../endpoint/command-endpoints.ts";
import { type CheckedRequest, type Endpoint, json } from "../endpoint/endpoint.ts";
import { preparedComponent } from "../input/component.ts";
import { readDocument } from "../input/document.ts";
import { INTERNAL_PROBLEM, ProblemError, problemOf, unwrap } from "../endpoint/problem.ts";
import { memoriesOf, type Services, tenantOf } from "../endpoint/services.ts";

/** Collections of documents. */
export function collectionEndpoints(services: Services): Endpoint[] {
  const collectionOf = ({ principal, param }: Pick<CheckedRequest, "principal" | "param">) =>
    memoriesOf(services).collection(principal.tenant, param("collection"));

  return commandEndpoints(collectionCommands, services, {
    async listCollections({ principal, query }) {
      const memories = memoriesOf(services);
      const tenant = tenantOf(services, principal.tenant);
      const page = unwrap(
        await tenant.memoryNames({
          prefix: PREFIX,
          limit: query.limit,
          ...(query.cursor !== undefined && { cursor: query.cursor }),
        }),
      );
      const collections: CollectionInfo[] = [];
      const unusable: NonNullable<CollectionPage["unusable"]> = [];
      const found = await Promise.all(
        page.names.map(async (name) => {
          const id = name.slice(PREFIX.length);
          const one = memories.collection(principal.tenant, id).collection();
          return [id, await one.catch(refusalOf)] as const;
        }),
      );
      for (const [id, one] of found) {
        if (one.ok) collections.push(one.value);
        // Another may have been deleted meanwhile.
        else if (one.problem.code !== "collection_not_found") {
          unusable.push({ id, code: one.problem.code, detail: one.problem.detail });
        }
      }
      return json({
        collections,
        ...(unusable.length > 0 && { unusable }),
        next_cursor: page.next_cursor,
      });
    },

    async putCollection({ body, principal, param }) {
      const { description, language } = body;
      const collection = collectionOf({ principal, param });
      const before = await collection.collection();
      const shown = (before.ok && before.value.embedding) || {};
      const embedding = body.embedding && (await embeddingOf(body.embedding, shown, services));
      const { created, ...info } = unwrap(
        await collection.putCollection({ description, embedding, language }),
      );
      if (!created) return json(info);
      return json(info, 201, { location: `/v1/collections/${param("collection")}` });
    },

    getCollection: async (call) => json(unwrap(await collectionOf(call).collection())),

    async deleteCollection(call) {
      const deleted = await collectionOf(call).deleteCollection();
      // One whose object cannot even be started is no longer listed.
      const forgotten =
        !deleted.ok &&
        isUnreadable(deleted, { is: "collection" }) &&
        (await tenantOf(services, call.principal.tenant).dropMemories(
          `${PREFIX}${call.param("collection")}`,
        ));
      if (!forgotten) unwrap(deleted);
      return new Response(null, { status: 204 });
    },

    embedCollection: async (call) => json(unwrap(await collectionOf(call).embedCollection()), 202),

    async searchCollection(call) {
      const query = { ...call.body, in_run: false };
      const { embedding, ...found } = unwrap(await collectionOf(call).searchCollection(query));
      return json({
        ...found,
        ...(embedding && { usage: tokensOfCall(embedding)[embedding.model] }),
      });
    },

    async listDocuments(call) {
      const { limit, cursor } = call.query;
      const page = { limit, ...(cursor !== undefined && { cursor }) };
      return json(unwrap(await collectionOf(call).documents(page)));
    },

    async putDocument(call) {
      const id = documentOf(call);
      const collection = collectionOf(call);
      const { chunks, ...document } = await readDocument(call.c.req.raw, call.query, services);
      const stored = unwrap(await collection.putDocument({ id, ...document }, chunks));
      const location = `/v1/collections/${call.param("collection")}/documents/${id}`;
      return json(stored, 202, { location });
    },

    getDocument: async (call) => json(unwrap(await collectionOf(call).document(documentOf(call)))),

    async listChunks(call) {
      const { from = 0, limit } = call.query;
      const collection = collectionOf(call);
      return json(unwrap(await collection.chunks(documentOf(call), { from, limit })));
    },

    async deleteDocument(call) {
      unwrap(await collectionOf(call).deleteDocument(documentOf(call)));
      return new Response(null, { status: 204 });
    },
  });
}

/** One collection that cannot be used must not hide the others. */
function refusalOf(error: unknown): Refused {
  return { ok: false, problem: problemOf(error)?.problem ?? INTERNAL_PROBLEM };
}

/** Begins the names of collections among those of the tenant's memories. */
const PREFIX = "collection/";

/**
 * Checks an embedding client of a request.
 *
 * @param shown the one that it replaces, whose stored secrets may come back as redacted ones
 * @throws ProblemError 422
 */
async function embeddingOf(
  input: JsonObject,
  shown: JsonObject,
  services: Services,
): Promise<ComponentModel> {
  const { component } = await preparedComponent(input, services, {
    roles: ["embedding"],
    shown,
    path: "embedding",
  });
  return component as ComponentModel;
}

function documentOf({ param }: Pick<CheckedRequest, "param">): string {
  const id = param("document");
  if (DOCUMENT_ID.test(id)) return id;
  throw new ProblemError({
    status: 404,
    code: "document_not_found",
    detail: `There is no document ${JSON.stringify(beginningOf(id, 100))}: ids match ${DOCUMENT_ID.source}.`,
  });
}

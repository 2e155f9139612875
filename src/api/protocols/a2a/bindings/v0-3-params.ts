import { isJsonObject, type JsonObject } from "../../../../core/json.ts";

// The requests of 0.3 clients, in the fields of 1.0. Invalid fields are kept, so that the 1.0 check reports them.

/** The parameters of `message/send` and `message/stream`. */
export function givenMessage(params: unknown): unknown {
  if (!isJsonObject(params)) return params;
  const { message, configuration, ...rest } = params;
  return {
    ...rest,
    message: isJsonObject(message) ? givenOf(message) : message,
    ...(isJsonObject(configuration) && { configuration: configurationOf(configuration) }),
  };
}

/** The parameters of `tasks/pushNotificationConfig/set`. */
export function givenPushConfig(params: unknown): unknown {
  if (!isJsonObject(params)) return params;
  const { taskId, pushNotificationConfig } = params;
  return {
    taskId,
    ...(isJsonObject(pushNotificationConfig) && pushConfigOf(pushNotificationConfig)),
  };
}

/** Those of the other methods for configs: they name the task `id`. */
export function givenPushConfigId(params: unknown): unknown {
  if (!isJsonObject(params)) return params;
  const { id: taskId, pushNotificationConfigId: id } = params;
  return { taskId, ...(id !== undefined && { id }) };
}

function givenOf({ role, parts, ...given }: JsonObject): JsonObject {
  const { kind: _, ...rest } = given;
  return {
    ...rest,
    role: role === "user" ? "ROLE_USER" : (role ?? null),
    parts: Array.isArray(parts)
      ? parts.map((part) => (isJsonObject(part) ? partOf(part) : part))
      : (parts ?? null),
  };
}

function partOf({ kind, text, data, file }: JsonObject): JsonObject {
  if (kind === "text") return text === undefined ? {} : { text };
  if (kind === "data") return data === undefined ? {} : { data };
  const { bytes, uri, mimeType, name } = isJsonObject(file) ? file : {};
  return {
    ...(bytes !== undefined && { raw: bytes }),
    ...(uri !== undefined && { url: uri }),
    ...(mimeType !== undefined && { mediaType: mimeType }),
    ...(name !== undefined && { filename: name }),
  };
}

function configurationOf({ blocking, pushNotificationConfig, ...rest }: JsonObject): JsonObject {
  return {
    ...rest,
    ...(blocking !== undefined && {
      returnImmediately: typeof blocking === "boolean" ? !blocking : blocking,
    }),
    ...(isJsonObject(pushNotificationConfig) && {
      taskPushNotificationConfig: pushConfigOf(pushNotificationConfig),
    }),
  };
}

function pushConfigOf({ authentication, ...rest }: JsonObject): JsonObject {
  if (!isJsonObject(authentication)) return rest;
  const { schemes, credentials } = authentication;
  const [scheme = null] = Array.isArray(schemes) ? schemes : [];
  return { ...rest, authentication: { scheme, ...(credentials !== undefined && { credentials }) } };
}

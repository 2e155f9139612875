/** The place of a table's rows in a backup, or the reason why they are not in it. */
type Row = { in: string } | { out: string };

const HISTORY = "what has happened stays with the server where it happened";
const MADE_AGAIN = "it is made again from what a restore writes";
const UNDER_WAY = "it belongs to work that is under way, which a backup does not carry on";
const SENT_ALREADY = "it has been sent, or is sent by the server that has it";

/** The index of memories or of documents, by the name of its table. */
function indexTables(name: string, entries: Row): Record<string, Row> {
  return {
    [name]: entries,
    [`${name}_words`]: { out: MADE_AGAIN },
    [`${name}_words_2`]: { out: MADE_AGAIN },
    [`${name}_space`]: { out: MADE_AGAIN },
    [`${name}_code`]: { out: MADE_AGAIN },
    [`${name}_gone`]: { out: MADE_AGAIN },
    [`${name}_waiting`]: { out: MADE_AGAIN },
    vector_state: { out: MADE_AGAIN },
    vector_batch: { out: MADE_AGAIN },
  };
}

/**
 * Every table of the Durable Objects, by class. A test refuses one that is missing here, so that whoever adds a table decides
 * whether `troupe backup` has its rows.
 */
export const STORED_TABLES: Readonly<
  Record<"TeamObject" | "TenantObject" | "MemoryObject", Readonly<Record<string, Row>>>
> = {
  TeamObject: {
    meta: { in: "the team and the components of its versions; numbers of its own are made again" },
    version: { in: "versions with labels and notes" },
    head: { in: "the state" },
    log: { in: "the state" },
    event: { in: "messages of the conversation; other events of streams are history" },
    part: { in: "the texts to which the other tables refer" },
    blob: { in: "the images and files to which messages refer" },
    blob_use: { out: MADE_AGAIN },
    schedule: { in: "schedules, but single times that are over" },
    board_change: { in: "the tasks of the board" },
    board_added: { out: MADE_AGAIN },
    ...indexTables("memory", { in: "memories of the team" }),
    memory_past: { out: HISTORY },
    memory_mark: { out: MADE_AGAIN },
    memory_outbox: { out: UNDER_WAY },
    approval: {
      out: "an approval was given by people for this team: the next equal call asks them again",
    },
    decision: { out: HISTORY },
    run: { out: HISTORY },
    step: { out: UNDER_WAY },
    question: { out: UNDER_WAY },
    queue: { out: UNDER_WAY },
    steering: { out: UNDER_WAY },
    staged: { out: UNDER_WAY },
    outbox: { out: UNDER_WAY },
    idempotency: { out: UNDER_WAY },
    cache: { out: MADE_AGAIN },
    search: { out: MADE_AGAIN },
  },
  TenantObject: {
    meta: { out: MADE_AGAIN },
    tenant: { in: "the label and the limits of the tenant, with the operator's key" },
    key: { in: "names and scopes, which a restore lists; only hashes of keys are stored" },
    team_token: { in: "how many there were, which a restore lists" },
    webhook: { in: "webhooks, which get new secrets" },
    webhook_secret: { out: "secrets are shown once" },
    webhook_delivery: { out: SENT_ALREADY },
    connection: { in: "servers, which a restore lists; tokens are never shown" },
    connection_of_user: { in: "servers and users, which a restore lists; tokens are never shown" },
    login: { out: UNDER_WAY },
    login_wait: { out: UNDER_WAY },
    inbound: { in: "triggers, which get new secrets; those of Stripe and Slack are filled in" },
    inbound_delivery: { out: HISTORY },
    inbound_tenant: { out: MADE_AGAIN },
    notify: { in: "receivers of messages, whose secrets are filled in" },
    skill_version: { in: "skills with all versions" },
    skill_piece: { in: "the files of skills" },
    tool: { in: "own tools of teams" },
    kept_file: {
      out: "uploads over OpenAI's API expire, and another upload has another id: upload them again",
    },
    kept_file_piece: { out: "the same as kept_file" },
    memory: { in: "the names of users and collections" },
    memory_stored: { out: MADE_AGAIN },
    team: { out: MADE_AGAIN },
    activity: { out: MADE_AGAIN },
    gone: { out: HISTORY },
    closed: { out: HISTORY },
    run: { out: HISTORY },
    request: { out: UNDER_WAY },
    reservation: { out: UNDER_WAY },
    idempotency: { out: UNDER_WAY },
    session: { out: UNDER_WAY },
    conversation: { out: "conversations over A2A belong to a credential that no backup has" },
    usage: { out: HISTORY },
    user_usage: { out: HISTORY },
    day_usage: { out: HISTORY },
  },
  MemoryObject: {
    meta: { out: MADE_AGAIN },
    part: { in: "the texts to which the other tables refer" },
    blob: { in: "what memories refer to" },
    blob_use: { out: MADE_AGAIN },
    ...indexTables("memory", { in: "memories of users and of the tenant" }),
    memory_mark: { out: MADE_AGAIN },
    memory_applied: { out: UNDER_WAY },
    memory_embeddings: { out: MADE_AGAIN },
    collection: { in: "collections with their embedding clients, whose secrets are filled in" },
    document: { in: "documents" },
    ...indexTables("chunk", { in: "the parts of documents, with headings and pages" }),
    abandoned: { out: MADE_AGAIN },
  },
};

/** What is stored of webhooks. Without rowid: an insert, and an update even of the key, is one written row. */
export const WEBHOOK_TABLES = [
  "create table webhook (id text primary key, record text not null) without rowid",
  // Sealed, newest first; of the id `default` the tenant's own.
  "create table webhook_secret (webhook text primary key, secrets text not null) without rowid",
  // `seq` is the time of the event in microseconds, made unique. A list is a merge of one range per status.
  `create table webhook_delivery (
    status text, webhook text, seq integer, record text not null, body text not null,
    primary key (status, webhook, seq)
  ) without rowid`,
];

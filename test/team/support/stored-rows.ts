/** The rows that a query finds; none where its table comes with its first row and there is none yet. */
export function storedRows<Row extends Record<string, SqlStorageValue>>(
  { sql }: DurableObjectStorage,
  query: string,
): Row[] {
  const [, table = ""] = /\bfrom (\w+)/.exec(query) ?? [];
  const exists = "select 1 from sqlite_master where name = ?";
  const isMissing = (name: string): boolean => sql.exec(exists, name).toArray().length === 0;
  if ((table === "step" || table === "question") && isMissing(table)) return [];
  return sql.exec<Row>(query).toArray();
}

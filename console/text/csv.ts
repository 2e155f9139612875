/** The rows of a text with separated values (RFC 4180); undefined for a text that is not a table. */
export function tableIn(text: string, separator: "," | "\t" = ","): string[][] | undefined {
  const rows: string[][] = [];
  const cell =
    separator === ","
      ? /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y
      : /(?:"((?:[^"]|"")*)"|([^"\t\r\n]*))(\t|\r?\n|$)/y;
  let row: string[] = [];
  while (cell.lastIndex < text.length) {
    const match = cell.exec(text);
    if (match === null) return undefined;
    const [, quoted, plain = "", end] = match;
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end !== separator) {
      rows.push(row);
      row = [];
    }
  }
  // A separator at the very end.
  if (row.length > 0) rows.push([...row, ""]);
  const [header] = rows;
  const isTable =
    header !== undefined &&
    header.length > 1 &&
    rows.length > 1 &&
    rows.every(({ length }) => length === header.length);
  return isTable ? rows : undefined;
}

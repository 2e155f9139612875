import { counted } from "../parts/numbers.ts";
import { useState } from "react";
import { visibleName } from "./foreign.ts";

const SHOWN = 200;

/** A table whose first row is its header. It scrolls sideways, so that words are not broken. */
export function DataTable({ rows }: { rows: readonly (readonly string[])[] }) {
  const [whole, setWhole] = useState(false);
  const [header = [], ...all] = rows;
  const visible = whole ? all : all.slice(0, SHOWN);
  return (
    <div className="stack">
      <div className="scroll data-table" tabIndex={0} role="group" aria-label="Table">
        <table>
          <thead>
            <tr>
              {header.map((text, index) => (
                <th key={index} scope="col">
                  {visibleName(text)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {visible.map((row, index) => (
              <tr key={index}>
                {row.map((text, position) => (
                  <td key={position} data-number={text !== "" && !Number.isNaN(Number(text))}>
                    {visibleName(text)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {visible.length < all.length && (
        <button className="button small" type="button" onClick={() => setWhole(true)}>
          Show all {counted(all.length, "row")}
        </button>
      )}
    </div>
  );
}

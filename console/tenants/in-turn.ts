/** The most rows whose numbers are asked for at the same time. */
const MOST = 4;

let asking = 0;
const waiting: (() => void)[] = [];

/** Asks when fewer than {@link MOST} others are being asked, in the order of the calls. */
export async function inTurn<T>(ask: () => Promise<T>): Promise<T> {
  if (asking < MOST) asking++;
  else await new Promise<void>((resolve) => waiting.push(resolve));
  try {
    return await ask();
  } finally {
    const next = waiting.shift();
    if (next === undefined) asking--;
    else next();
  }
}

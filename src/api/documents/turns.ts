/** The interval at which a waiting document checks for its turn. */
const LOOK_MS = 50;
/** The interval at which the document that is being read shows that it is. */
const BEAT_MS = 1_000;
/** After so long without a beat the request of a document has ended without a word: its client has left. */
const LOST_AFTER_LOOKS = 200;

/** The most bytes that documents hold together, until they are read: two of the largest, and small ones. */
const MOST_HELD_BYTES = 50_000_000;
/** After so long without a beat, what a document held is free: its request has ended without a word. */
const LOST_AFTER_MS = 10_000;

interface Waiter {
  beats: number;
}

interface Held {
  bytes: number;
  beatAt: number;
}

const holding = new Set<Held>();

/**
 * Does the work of a document that holds this many bytes, if there is room for them: documents wait with their bytes until it is
 * their turn, and the memory of an isolate does not grow with how many are sent at once.
 *
 * @returns undefined without room
 */
export async function withRoom<T>(bytes: number, work: () => Promise<T>): Promise<T | undefined> {
  let sum = bytes;
  for (const held of holding) {
    if (held.beatAt < Date.now() - LOST_AFTER_MS) holding.delete(held);
    else sum += held.bytes;
  }
  if (sum > MOST_HELD_BYTES) return undefined;
  const own: Held = { bytes, beatAt: Date.now() };
  holding.add(own);
  const timer = setInterval(() => (own.beatAt = Date.now()), BEAT_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    holding.delete(own);
  }
}

/** The documents of this isolate, the one that is being read first. */
const places: Waiter[] = [];

/**
 * Does the work when all that came before is done: what documents hold while they are read would add up. A request of Workers cannot
 * be woken by another one, and one whose client has left ends anywhere, so the requests look for themselves.
 */
export async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const own: Waiter = { beats: 0 };
  places.push(own);
  try {
    await turnOf(own);
    const timer = setInterval(() => own.beats++, BEAT_MS);
    try {
      return await work();
    } finally {
      clearInterval(timer);
    }
  } finally {
    leave(own);
  }
}

async function turnOf(own: Waiter): Promise<void> {
  let seen: Waiter & { place: Waiter | undefined; looks: number } = {
    place: undefined,
    beats: 0,
    looks: 0,
  };
  for (let first = places[0]; first !== own && first !== undefined; first = places[0]) {
    const isSame = seen.place === first && seen.beats === first.beats;
    seen = { place: first, beats: first.beats, looks: isSame ? seen.looks + 1 : 0 };
    if (seen.looks === LOST_AFTER_LOOKS) leave(first);
    own.beats++;
    await wait(LOOK_MS);
  }
}

function leave(waiter: Waiter): void {
  const index = places.indexOf(waiter);
  if (index >= 0) places.splice(index, 1);
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}

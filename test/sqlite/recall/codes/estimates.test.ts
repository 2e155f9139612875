import { expect, test } from "vitest";
import { PackedCodes, layoutOf } from "#sqlite/recall/codes/code-block.ts";
import { Estimates } from "#sqlite/recall/codes/estimates.ts";
import { product, unitVector, VectorCoder } from "#sqlite/recall/codes/vector-code.ts";

const DIMENSIONS = 384;
const coder = new VectorCoder(DIMENSIONS);
const layout = layoutOf(coder.bytes);

let state = 7;
/** A number from -1 to 1, the same in each run. */
function random(): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return state / 2 ** 31 - 1;
}

/** A vector with a few strong dimensions, as embeddings have. */
function vector(): Float32Array {
  const values = Array.from({ length: DIMENSIONS }, (_, n) => random() * (n < 8 ? 10 : 1));
  const unit = unitVector(values);
  if (unit === undefined) throw new Error("The vector has no direction.");
  return unit;
}

const vectors = Array.from({ length: 256 }, vector);

/** A block of all vectors; every second one belongs to group 1, and the others to group 2. */
function block(): PackedCodes {
  const made = new PackedCodes(1000, layout);
  for (const [n, unit] of vectors.entries())
    made.add(1000 + n, { id: n, text: n, group: 1 + (n % 2), ...coder.encode(unit) });
  return made;
}

const sorted = (unit: Float32Array, group: number | null) =>
  [...new Estimates(coder.query(unit), layout, [block()], group).sorted()].flat();

test("estimates differ from the similarities by their standard deviation", () => {
  const query = vector();
  const { error } = coder.query(query);
  const found = sorted(query, null);
  expect(found).toHaveLength(vectors.length);
  const squares = found.map(
    ({ seq, similarity }) => (similarity - product(query, vectors[seq - 1000] ?? query)) ** 2,
  );
  const deviation = Math.sqrt(squares.reduce((sum, square) => sum + square, 0) / squares.length);
  expect(deviation).toBeGreaterThan(error / 2);
  expect(deviation).toBeLessThan(error * 1.5);
});

test("a vector of the block is the first of its own estimates, which are sorted", () => {
  const found = sorted(vectors[99] ?? vector(), null);
  expect(found[0]?.seq).toBe(1099);
  const similarities = found.map(({ similarity }) => similarity);
  expect(similarities).toEqual(similarities.toSorted((a, b) => b - a));
});

test("a search in a group has the entries of that group only", () => {
  const seqs = sorted(vectors[0] ?? vector(), 2).map(({ seq }) => seq);
  expect(seqs).toHaveLength(vectors.length / 2);
  expect(seqs.every((seq) => seq % 2 === 1)).toBe(true);
});

test("a stored block has the records that were not removed", () => {
  const made = block();
  made.remove(0);
  const stored = new PackedCodes(1000, layout, made.body);
  expect(stored.count).toBe(255);
  expect(stored.indexOf(1000)).toBe(-1);
  expect(stored.idAt(stored.indexOf(1255))).toBe(255);
});

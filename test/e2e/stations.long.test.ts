import { beforeAll, expect, test } from "vitest";
import { entriesOf, measuredWay, type Way } from "./stations/measure.ts";
import { pageOf, stationsOf, storedPage } from "./stations/page.ts";

const MOST_STATIONS = 25;
const MOST_FILES = 75;
/** They must not grow; 350 is the goal. */
const MOST_ENTRIES = 433;

let way: Way;

beforeAll(async () => {
  way = await measuredWay();
  const [before, all] = [entriesOf(way.entries.before), entriesOf(way.entries.all)];
  process.stdout.write(
    `entries into other files: ${before} up to the request to the model, ${all} up to the last frame\n`,
  );
});

test("the page lists the way of a streamed run as it is (`npm run stations` writes it)", () => {
  expect(storedPage()).toBe(pageOf(way));
});

test(`a streamed run has at most ${MOST_STATIONS} stations from the router to the model's request`, () => {
  expect(stationsOf(way).length).toBeLessThanOrEqual(MOST_STATIONS);
});

test(`a streamed run enters at most ${MOST_FILES} files whose functions call others`, () => {
  expect(way.files.length).toBeLessThanOrEqual(MOST_FILES);
});

test(`a streamed run enters functions of other files at most ${MOST_ENTRIES} times before its model is asked`, () => {
  expect(entriesOf(way.entries.before)).toBeLessThanOrEqual(MOST_ENTRIES);
});

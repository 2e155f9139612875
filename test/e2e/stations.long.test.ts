import { beforeAll, expect, test } from "vitest";
import { measuredWay, type Way } from "./stations/measure.ts";
import { measuredEntries, pageOf, stationsOf, storedEntries, storedPage } from "./stations/page.ts";

const MOST_STATIONS = 25;
const MOST_FILES = 75;

let way: Way;

beforeAll(async () => {
  way = await measuredWay();
});

test("the page lists the way of a streamed run as it is (`npm run stations` writes it)", () => {
  expect(storedPage()).toBe(pageOf(way, storedEntries()));
});

test(`a streamed run has at most ${MOST_STATIONS} stations from the router to the model's request`, () => {
  expect(stationsOf(way).length).toBeLessThanOrEqual(MOST_STATIONS);
});

test(`a streamed run enters at most ${MOST_FILES} files whose functions call others`, () => {
  expect(way.files.length).toBeLessThanOrEqual(MOST_FILES);
});

test("a streamed run enters functions of other files at most as often as the page says", () => {
  const [stored, measured] = [storedEntries(), measuredEntries(way)];
  expect(measured.before).toBeLessThanOrEqual(stored.before);
  expect(measured.all).toBeLessThanOrEqual(stored.all);
});

import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import {
  AssistantAgent,
  DiGraphBuilder,
  dumpComponent,
  GraphFlow,
  MaxMessageTermination,
  ReplayChatCompletionClient,
  RoundRobinGroupChat,
} from "troupe";
import { ConsoleStage } from "../../console/test/support/stage.ts";
import type { MeasureOptions, Report } from "../support/report.ts";
import { median, percentile } from "../support/statistics.ts";

/** Agents that write at once, and the milliseconds between their tokens. */
const WRITERS = 5;
const EVERY_MS = 20;
/** A frame that took longer is seen as a stop. */
const LONG_FRAME_MS = 50;

const PARAGRAPH =
  "The lighthouse stood at the *end* of the pier, and `keeper.log` had an entry for each night of the year:\n\n- a ship\n- a storm\n- nothing at all\n\n";
const CODE = "```python\nfor night in range(365):\n    print(night, log[night])\n```\n\n";

interface Size {
  opened: number;
  messages: number;
  writesMs: number;
}

const SMOKE: Size = { opened: 1, messages: 200, writesMs: 2_000 };
const FULL: Size = { opened: 9, messages: 20_000, writesMs: 20_000 };

/** Figures of a page while something happens on it. */
interface Frames {
  /** Share of the frames that took longer than {@link LONG_FRAME_MS}, of 1. */
  long: number;
  /** Milliseconds, of 99 % of the frames at most. */
  p99: number;
}

/** How soon the console shows something, and how smoothly, in Chromium. */
export async function measure({ smoke = false }: MeasureOptions = {}): Promise<Report> {
  const size = smoke ? SMOKE : FULL;
  await using stage = await ConsoleStage.start();
  const { client } = stage;

  const short = await client.teams.create({ component: talk(20) });
  await short.run("Talk.").result();
  const { milliseconds: shortShown, kilobytes: script } = await openOften(
    stage,
    short.id,
    size.opened,
  );

  const long = await client.teams.create({ component: talk(size.messages) });
  await long.run("Talk.").result();
  const { milliseconds: longShown } = await openOften(stage, long.id, size.opened);
  const { page: longPage } = await open(stage, long.id);
  const scrolled = await scroll(longPage);
  await longPage.context().close();

  /** @param show opens a page that shows what the team writes */
  const chorus = async (show: (team: string) => Promise<Page>): Promise<Frames> => {
    const team = await client.teams.create({ component: chorusOf(WRITERS) });
    const page = await show(team.id);
    await team.start("Write.");
    // Opening the page is not writing.
    await page.waitForTimeout(1_000);
    const frames = await framesOf(page, size.writesMs);
    const shown = await page.evaluate<number>("document.body.innerText.length");
    if (shown < size.writesMs / EVERY_MS) throw new Error(`the page shows ${shown} characters`);
    await team.delete();
    await page.context().close();
    return frames;
  };
  const written = await chorus(async (team) => (await stage.open(`/teams/${team}`)).page);
  const plain = await chorus(async (team) => {
    const { page } = await stage.open("/healthz");
    await showPlainly(page, team);
    return page;
  });

  const many = `${size.messages.toLocaleString("en")} messages`;
  return {
    title: "Console",
    method: `The page in Chromium without a screen, beside the server on the same machine. ${WRITERS} agents write Markdown with code, a token every ${EVERY_MS} ms each; the plain page adds the same tokens to text nodes, once per frame. A conversation of ${many} is scrolled up by its wheel.`,
    rows: [
      {
        "": "a conversation appears, from navigation",
        "20 messages": `${Math.round(shortShown)} ms`,
        [many]: `${Math.round(longShown)} ms`,
      },
      {
        "": `frames over ${LONG_FRAME_MS} ms while it is scrolled`,
        "20 messages": "",
        [many]: share(scrolled),
      },
      {
        "": `frames over ${LONG_FRAME_MS} ms while ${WRITERS} write`,
        "20 messages": share(written),
        [many]: "",
      },
      { "": "the same on a plain page", "20 messages": share(plain), [many]: "" },
    ],
    goals: [
      {
        what: "script of the first load",
        value: script,
        unit: "KB gzip",
        limit: { atMost: 150 },
      },
      {
        what: "a conversation appears",
        value: shortShown,
        unit: "ms",
        limit: { atMost: 1_000 },
      },
      {
        what: `${many} appear`,
        value: longShown,
        unit: "ms",
        limit: { atMost: 1_000 },
      },
      {
        what: `frames over ${LONG_FRAME_MS} ms while ${WRITERS} write`,
        value: written.long * 100,
        unit: "%",
        limit: { atMost: 5 },
      },
      {
        what: `frames over ${LONG_FRAME_MS} ms while scrolling`,
        value: scrolled.long * 100,
        unit: "%",
        limit: { atMost: 5 },
      },
    ],
  };
}

function share({ long, p99 }: Frames): string {
  return `${(long * 100).toFixed(1)} %, p99 ${Math.round(p99)} ms`;
}

function writer(name: string, text: string, chunkDelayMs: number): AssistantAgent {
  return new AssistantAgent({
    name,
    modelClient: new ReplayChatCompletionClient([text], { cycle: true, chunkDelayMs }),
    modelClientStream: chunkDelayMs > 0,
  });
}

/** Two agents that say `messages`, the task included. */
function talk(messages: number) {
  return dumpComponent(
    new RoundRobinGroupChat(
      [writer("first", PARAGRAPH, 0), writer("second", PARAGRAPH + CODE, 0)],
      { terminationCondition: new MaxMessageTermination(messages) },
    ),
  );
}

/** Agents that write at the same time, for long. */
function chorusOf(count: number) {
  const builder = new DiGraphBuilder();
  const text = (PARAGRAPH + CODE).repeat(200);
  const names = Array.from({ length: count }, (_, index) => `writer_${index + 1}`);
  for (const name of names) builder.addNode(writer(name, text, EVERY_MS));
  return dumpComponent(new GraphFlow(builder.getParticipants(), builder.build()));
}

/** Notes when the first message is on the screen, milliseconds after the navigation. */
const NOTE_SHOWN = `new MutationObserver((_, observer) => {
  if (document.querySelector("article .body") === null) return;
  observer.disconnect();
  requestAnimationFrame(() => setTimeout(() => (window.shownAt = performance.now())));
}).observe(document, { subtree: true, childList: true })`;

interface Opened {
  page: Page;
  /** From the navigation until the first message is on the screen. */
  milliseconds: number;
  /** The scripts of the page, compressed. */
  kilobytes: number;
}

/** Opens a conversation in several tabs, one after the other: the median. */
async function openOften(
  stage: ConsoleStage,
  team: string,
  rounds: number,
): Promise<Omit<Opened, "page">> {
  const times: number[] = [];
  let size = 0;
  for (let round = 0; round < rounds; round++) {
    const { page, milliseconds, kilobytes } = await open(stage, team);
    times.push(milliseconds);
    size = kilobytes;
    await page.context().close();
  }
  return { milliseconds: median(times), kilobytes: size };
}

/** Opens a conversation with an empty cache. */
async function open(stage: ConsoleStage, team: string): Promise<Opened> {
  const { page } = await stage.open("/healthz");
  const scripts: Promise<Buffer>[] = [];
  page.on("response", (response) => {
    if (new URL(response.url()).pathname.endsWith(".js")) scripts.push(response.body());
  });
  await page.addInitScript(NOTE_SHOWN);
  await page.goto(`${stage.origin}/teams/${team}`, { waitUntil: "commit" });
  await page.waitForFunction(() => "shownAt" in globalThis);
  const milliseconds = await page.evaluate<number>("window.shownAt");
  // Scripts that are loaded after the first message count, too.
  await page.waitForTimeout(500);
  const sizes = (await Promise.all(scripts)).map((script) => gzipSync(script).length);
  return { page, milliseconds, kilobytes: sizes.reduce((sum, bytes) => sum + bytes) / 1000 };
}

/** Turns the wheel upwards, as fast as a hand does. */
async function scroll(page: Page): Promise<Frames> {
  const box = await page.getByRole("log").boundingBox();
  if (box === null) throw new Error("there is no conversation");
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  const frames = framesOf(page, 5_000);
  for (let turn = 0; turn < 100; turn++) {
    await page.mouse.wheel(0, -400);
    await page.waitForTimeout(40);
  }
  return frames;
}

/** The frames of a page in the next `ms`. */
async function framesOf(page: Page, ms: number): Promise<Frames> {
  const durations = await page.evaluate<number[]>(`new Promise((resolve) => {
    const durations = [];
    const started = performance.now();
    let last = started;
    const frame = (now) => {
      durations.push(now - last);
      last = now;
      if (now - started < ${ms}) requestAnimationFrame(frame);
      else resolve(durations.slice(1));
    };
    requestAnimationFrame(frame);
  })`);
  return {
    long: durations.filter((duration) => duration > LONG_FRAME_MS).length / durations.length,
    p99: percentile(durations, 0.99),
  };
}

/** Makes a page that shows what a team writes without anything else. */
async function showPlainly(page: Page, team: string): Promise<void> {
  await page.evaluate(`(() => {
    const texts = new Map();
    let waiting = new Map();
    const show = () => {
      for (const [source, text] of waiting) {
        if (!texts.has(source)) {
          const box = document.body.appendChild(document.createElement("pre"));
          texts.set(source, box.appendChild(document.createTextNode("")));
        }
        texts.get(source).appendData(text);
      }
      waiting = new Map();
    };
    new EventSource("/v1/teams/${team}/events").onmessage = ({ data }) => {
      const { source, content } = JSON.parse(data);
      if (waiting.size === 0) requestAnimationFrame(show);
      waiting.set(source, (waiting.get(source) ?? "") + content);
    };
  })()`);
}

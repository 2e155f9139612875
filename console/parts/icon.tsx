/** Paths on a grid of 16, drawn with a line of 1.5. */
const PATHS = {
  people:
    "M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Zm-4.5 6c0-2.5 2-4 4.5-4s4.5 1.5 4.5 4M10.5 2.8a2.5 2.5 0 0 1 0 4.5m1.5 2.5c1.6.6 2.5 1.9 2.5 3.7",
  home: "M2.500 7.500 8 2.500l5.500 5M4 6.500v7h8v-7M6.500 13.500v-4h3v4",
  inbox: "M2 9.5 4 3h8l2 6.5V13H2V9.5Zm0 0h3.5c.3 1.2 1.2 2 2.5 2s2.2-.8 2.5-2H14",
  sun: "M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1.1 1.1M11.9 11.9 13 13M13 3l-1.1 1.1M4.1 11.9 3 13",
  moon: "M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7Z",
  display: "M2 3h12v8H2V3Zm4 11h4M8 11v3",
  close: "m4 4 8 8m0-8-8 8",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9Zm3.5-1L14 14",
  leave: "M6 14H3V2h3m4 9 3-3-3-3m3 3H6",
  send: "M8 13V3m0 0L4 7m4-4 4 4",
  stop: "M4 4h8v8H4z",
  pause: "M5.5 3.5v9m5-9v9",
  play: "M5 3.5v9l7-4.5-7-4.5Z",
  retry: "M13 8a5 5 0 1 1-1.5-3.5L13 6m0-3.5V6H9.5",
  fork: "M4 5.5v5m0-5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3Zm0 5a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3Zm8-5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3Zm0 0C12 8.5 4 7 4 10.5",
  undo: "M3.5 6.5h6a3.5 3.5 0 0 1 0 7H6M3.5 6.5l3-3m-3 3 3 3",
  redo: "M12.5 6.500h-6a3.500 3.500 0 0 0 0 7H10M12.500 6.500l-3-3m3 3-3 3",
  edit: "m10.5 3 2.5 2.5L5.5 13H3v-2.5L10.5 3Z",
  copy: "M5.5 5.5h8v8h-8v-8Zm5 0v-3h-8v8h3",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  tool: "M10 2.5a3.5 3.5 0 0 0-3.3 4.7L2.5 11.5l2 2 4.2-4.2A3.5 3.5 0 0 0 13.4 5l-2 2-2-2 2-2a3.5 3.5 0 0 0-1.4-.5Z",
  thought:
    "M8 2.5c3.3 0 6 2 6 4.8S11.300 12 8 12H6l-3 2v-3.200C2 9.900 2 8.500 2 7.300 2 4.500 4.700 2.500 8 2.500Z",
  arrow: "M3 8h10m0 0L9 4m4 4-4 4",
  code: "m5.500 5-3 3 3 3m5-6 3 3-3 3",
  down: "M8 3v10m0 0 4-4m-4 4L4 9",
  up: "M8 13V3m0 0L4 7m4-4 4 4",
  fit: "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10",
  spark: "M8 2.5 9.4 6.6 13.5 8 9.4 9.4 8 13.5 6.6 9.4 2.5 8 6.6 6.6Z",
  book: "M3 3h4c.6 0 1 .5 1 1v9c0-.6-.4-1-1-1H3V3Zm10 0H9c-.6 0-1 .5-1 1v9c0-.6.4-1 1-1h4V3Z",
  person: "M8 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Zm-5 6c0-2.5 2.2-4 5-4s5 1.5 5 4",
  graph: "M8 5.5v2m0 0H3.5v3m4.5-3h4.5v3M6 2.5h4v3H6v-3Zm-4.5 8h4v3h-4v-3Zm9 0h4v3h-4v-3Z",
  back: "M10 3 5 8l5 5",
  right: "m6 4 4 4-4 4",
  fold: "m4.5 3 3.5 3.5L11.5 3m-7 10L8 9.5l3.5 3.5",
  unfold: "m4.5 6 3.5-3.5L11.5 6m-7 4L8 13.5l3.5-3.5",
  runs: "M2 4h7M5 8h8M3 12h5",
  chart: "M2.5 13.5h11M4.5 11V8m3.5 3V3.5m3.5 7.5V6",
  model: "M8 2v3m0 6v3M2 8h3m6 0h3M4 4l2 2m4 4 2 2m0-8-2 2m-4 4-2 2",
  clock: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12Zm0-9.5V8l2.5 1.5",
  warning: "M8 2.5 14.5 13.5h-13L8 2.5Zm0 4v3.5m0 1.5h.01",
  file: "M4 2h5l3 3v9H4V2Zm5 0v3h3",
  download: "M8 2.5v8m0 0 3-3m-3 3-3-3M3 13.5h10",
  upload: "M8 10.5v-8m0 0-3 3m3-3 3 3M3 13.5h10",
  bin: "M3 4.5h10M6.500 4.500V3h3v1.500m-5 0 .5 9h6l.5-9",
  calendar: "M3 3.500h10v9.500H3V3.500Zm0 3h10M5.500 2v2.500m5-2.500v2.500",
  bell: "M8 2a4 4 0 0 0-4 4c0 3-1.500 4-1.500 5.500h11C13.500 10 12 9 12 6a4 4 0 0 0-4-4ZM6.500 13.500a1.500 1.500 0 0 0 3 0",
  hook: "M6.500 6.500a2 2 0 1 1 2.700-1L11 9m0 0a2 2 0 1 1-1.500 3.300M5.500 8l-1.400 2.500m0 0a2 2 0 1 0 1.700 1.800h4",
  plug: "M6 2v3.500m4-3.500v3.500M4 5.500h8v2.500a4 4 0 0 1-8 0V5.500ZM8 12v2.500",
  key: "M9.500 9.500a3.500 3.500 0 1 0-3-3L2.500 10.500v3h3v-2h2l2-2Zm1.700-4.700h.01",
} as const;

export type IconName = keyof typeof PATHS;

/** An icon as decoration. Its meaning is in the text beside it, or in the name of its button. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

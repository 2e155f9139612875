import { beginningOf } from "troupe/client";
import { visibleName } from "../text/foreign.ts";
import { type Layout, pathThrough } from "./layout.ts";
import type { Picture, PictureNode } from "../picture/picture.ts";
import type { PictureProgress } from "../picture/progress.ts";

/** The longest name in a node, in characters. */
const LONGEST = 24;
const LINE = "#8b8b96";
const TAKEN = "#4f46e5";

/** The picture as an SVG document of its own, with light colours. */
export function svgOf(
  { nodes, edges }: Picture,
  { width, height, places, routes }: Layout,
  { taken, spoken }: Pick<PictureProgress, "taken" | "spoken">,
): string {
  const lines = edges.map(({ id, condition, decidedBy }) => {
    const route = routes.get(id);
    const count = taken.get(id) ?? 0;
    const state = count > 0 ? "taken" : "idle";
    const path = pathThrough(route?.points ?? []);
    const words = [condition || decidedBy, count > 0 ? `× ${count}` : ""].filter(Boolean).join(" ");
    const label =
      route && words !== "" ? text(words, route.label.x, route.label.y + 4, 11, "#5d5d68") : "";
    return `<path d="${path}" fill="none" stroke="${count > 0 ? TAKEN : LINE}" stroke-width="1.5" marker-end="url(#${state})"/>${label}`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif">
<defs>${arrow("idle", LINE)}${arrow("taken", TAKEN)}</defs>
<rect width="100%" height="100%" fill="#ffffff"/>
${lines.join("\n")}
${nodes.map((node) => nodeOf(node, places, spoken.get(node.id) ?? 0)).join("\n")}
</svg>
`;
}

function nodeOf(node: PictureNode, places: Layout["places"], spoken: number): string {
  const place = places.get(node.id);
  if (place === undefined) return "";
  const { x, y, width, height } = place;
  const dashed = node.kind === "participant" ? "" : ' stroke-dasharray="4 3"';
  const box = `<rect x="${x - width / 2}" y="${y - height / 2}" width="${width}" height="${height}" rx="10" fill="#ffffff" stroke="${LINE}"${dashed}/>`;
  const count =
    spoken > 0 ? text(String(spoken), x + width / 2 - 12, y - height / 2 + 16, 11, TAKEN) : "";
  return `${box}${text(node.name, x, y + 5, 13, "#1b1b1f")}${count}`;
}

function text(content: string, x: number, y: number, size: number, colour: string): string {
  const displayed = visibleName(content);
  const short = displayed.length > LONGEST ? `${beginningOf(displayed, LONGEST - 1)}…` : displayed;
  return `<text x="${x}" y="${y}" font-size="${size}" fill="${colour}" text-anchor="middle">${escaped(short)}</text>`;
}

function arrow(id: string, colour: string): string {
  return `<marker id="${id}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 10 5 0 10Z" fill="${colour}"/></marker>`;
}

function escaped(content: string): string {
  return content
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

/** Pixels per unit of the picture, for screens with many of them. */
const SCALE = 2;

/** An SVG document as a PNG image. @throws Error when the browser cannot draw it */
export async function pngOf(svg: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.naturalWidth * SCALE;
  canvas.height = image.naturalHeight * SCALE;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => {
      if (blob === null) reject(new Error("The browser can't draw this picture as PNG."));
      else resolve(blob);
    });
  });
}

import { Hono } from "hono";
import OpenAI from "openai";
import * as z from "zod";

// The peer for size and start: the base cost of any Worker on these three libraries.
const app = new Hono();
const body = z.object({ text: z.string() });

app.get("/healthz", (c) => c.json({ status: "ok" }));
app.post("/", async (c) => {
  const { text } = body.parse(await c.req.json());
  const client = new OpenAI({ apiKey: "none" });
  const messages = [{ role: "user" as const, content: text }];
  return c.json(await client.chat.completions.create({ model: "gpt-4o", messages }));
});

export default app;

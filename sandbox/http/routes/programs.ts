import { invalid } from "../../problem.ts";
import type { RunningProgram } from "../../sessions/programs.ts";
import { readBytes, readJson } from "../body.ts";
import type { Endpoint } from "../endpoint.ts";
import { event, PING_MS, stream } from "../event-stream.ts";
import { programSchema } from "../schemas.ts";
import type { Services } from "../services.ts";

export function programEndpoints({ programs, settings }: Services): Endpoint[] {
  return [
    {
      method: "post",
      path: "/v1/sessions/:session/mcp",
      id: "startProgram",
      summary:
        "Start the program of an MCP server in a session. It ends when its client disconnects, and with the session",
      body: programSchema,
      answers: {
        200: {
          description:
            "Events: `started` with {program, workspace, network}, `line` with {line} for each line of its standard output, last `exit` with {exit_code, stderr}, and the reason if it was ended.",
          media: "text/event-stream",
        },
      },
      problems: [429],
      async handle(call) {
        const session = call.session();
        const parsed = programSchema.safeParse(await readJson(call.request, settings.maxBodyBytes));
        if (!parsed.success)
          throw invalid(
            "invalid_body",
            "The body is not a valid request to start a program.",
            parsed.error.issues.map(({ path, message }) => ({ path: path.join("."), message })),
          );
        const program = await programs.start(session, parsed.data);
        call.gone.addEventListener("abort", () => void program.end(), { once: true });
        if (call.gone.aborted) void program.end();
        return stream(programEvents(program));
      },
    },
    {
      method: "post",
      path: "/v1/sessions/:session/mcp/:program",
      id: "sendToProgram",
      summary: "Write a line to the standard input of a program",
      body: "bytes",
      answers: { 202: { description: "The line was written." } },
      problems: [404, 413, 422],
      async handle(call) {
        const program = programs.find(call.session(), call.program());
        const bytes = await readBytes(call.request, settings.maxBodyBytes);
        await program.send(new TextDecoder().decode(bytes));
        return new Response(null, { status: 202 });
      },
    },
  ];
}

function programEvents(program: RunningProgram): ReadableStream<Uint8Array> {
  let pulled = (): void => undefined;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const send = (frame: string): void => controller.enqueue(Buffer.from(frame));
      const { id, workspace, network } = program;
      send(event("started", { program: id, workspace, network }));
      const pings = setInterval(() => send(": ping\n\n"), PING_MS);
      const copy = async (): Promise<void> => {
        for await (const line of program.lines()) {
          send(event("line", { line }));
          // A slow client slows down the program, instead of filling the memory.
          if ((controller.desiredSize ?? 0) > 0) continue;
          await new Promise<void>((resolve) => {
            pulled = resolve;
          });
        }
        const exit = await program.exited;
        // Its files are stored and its place is free when its client gets the end.
        await program.over;
        send(event("exit", exit));
        controller.close();
      };
      void copy()
        // The client has left.
        .catch(() => program.end())
        .finally(() => clearInterval(pings));
    },
    pull: () => pulled(),
    cancel: () => program.end(),
  });
}

import type { Measurement } from "./spans/report.ts";
import type { ReportedSpan, Span } from "./spans/span.ts";

/** The metrics of ended spans. Steps whose results were reused were counted before. */
export function measurementsOf(spans: readonly ReportedSpan[]): Measurement[] {
  return spans.flatMap((span) =>
    span.kind === "delivery" ? deliveryMeasurement(span.error === null) : measurementsOfSpan(span),
  );
}

export function deliveryMeasurement(delivered: boolean): Measurement {
  const attributes = { "troupe.webhook.outcome": delivered ? "delivered" : "failed" };
  return { name: "troupe.webhook.deliveries", value: 1, attributes };
}

function measurementsOfSpan(span: Span): Measurement[] {
  const { kind, start, end, error, tokens, provider, model, tool } = span;
  if (end === null) return [];
  const duration = Math.max(0, end - start) / 1000;
  const failed: Record<string, string> = error === null ? {} : { "error.type": error };
  switch (kind) {
    case "chat": {
      const attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider ?? "unknown",
        "gen_ai.request.model": model ?? "unknown",
      };
      const used = (type: "input" | "output", value: number): Measurement => ({
        name: "gen_ai.client.token.usage",
        value,
        attributes: { ...attributes, "gen_ai.token.type": type },
      });
      return [
        {
          name: "gen_ai.client.operation.duration",
          value: duration,
          attributes: { ...attributes, ...failed },
        },
        ...(tokens === null
          ? []
          : [used("input", tokens.prompt_tokens), used("output", tokens.completion_tokens)]),
      ];
    }
    case "execute_tool": {
      const attributes = { "gen_ai.tool.name": tool ?? "unknown", ...failed };
      return [{ name: "troupe.tool.duration", value: duration, attributes }];
    }
    case "turn":
      return [
        { name: "troupe.turns", value: 1, attributes: failed },
        { name: "troupe.turn.duration", value: duration, attributes: failed },
      ];
    case "run": {
      const status = error === null ? "completed" : error === "cancelled" ? error : "failed";
      const attributes = { "troupe.run.status": status, ...(status === "failed" && failed) };
      return [
        { name: "troupe.runs", value: 1, attributes },
        { name: "troupe.run.duration", value: duration, attributes },
      ];
    }
    case "queue":
      return [{ name: "troupe.queue.wait", value: duration, attributes: {} }];
    default:
      return [];
  }
}

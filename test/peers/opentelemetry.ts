import { createRequire } from "node:module";

export interface MessageType {
  fromObject(object: object): object;
  toObject(message: object, options: object): object;
}

// The messages of the protocol's own definition, as the official package compiles them.
const require = createRequire(import.meta.url);
const { opentelemetry } =
  require("@opentelemetry/otlp-transformer/build/src/generated/root.js") as {
    opentelemetry: {
      proto: {
        collector: {
          trace: { v1: { ExportTraceServiceRequest: MessageType } };
          metrics: { v1: { ExportMetricsServiceRequest: MessageType } };
        };
      };
    };
  };

export const { trace, metrics } = opentelemetry.proto.collector;

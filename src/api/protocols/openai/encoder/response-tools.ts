import { argumentsTextOf } from "../../shared/call-arguments.ts";
import type {
  ResponseFunctionToolCall,
  ResponseOutputItem,
} from "openai/resources/responses/responses";
import type { HumanRequest, RunInfo } from "../../../../contract/run.ts";
import type { RunItem } from "../../shared/run-item.ts";
import { approvalId, callId } from "../request/ids.ts";
import type { Placed, ResponseOutput } from "./response-output.ts";

type McpCall = ResponseOutputItem.McpCall;
type McpApprovalRequest = ResponseOutputItem.McpApprovalRequest;

/** Calls of tools in a response: those of the team as calls of a server's tools, those of the client as calls of functions. */
export class ResponseTools {
  readonly #output: ResponseOutput;
  readonly #clientTools: readonly string[];
  /** Calls that have no result yet, by their ids. */
  readonly #open = new Map<string, Placed<McpCall>>();

  constructor(output: ResponseOutput, clientTools: readonly string[]) {
    this.#output = output;
    this.#clientTools = clientTools;
  }

  /** Writes the calls of the team's own tools. */
  calls({ id: message, source, calls }: RunItem & { type: "tool_calls" }): string {
    return calls
      .filter(({ name }) => !this.#clientTools.includes(name))
      .map((call, n) =>
        this.#call(call.id, {
          id: this.#output.newId(`mcp_${message}_${n}`),
          type: "mcp_call",
          server_label: source,
          name: call.name,
          arguments: call.arguments,
          status: "in_progress",
        }),
      )
      .join("");
  }

  results({ results }: RunItem & { type: "tool_results" }): string {
    return results
      .map(({ call_id, content, is_error }) => this.#result(call_id, content, is_error === true))
      .join("");
  }

  /** Calls that will have no result. */
  giveUp(): string {
    return [...this.#open.values()].map((call) => this.#giveUp(call)).join("");
  }

  /** An approval, or a call of a tool of the client. Other questions are texts. */
  ask(run: RunInfo, { id: request, kind, source, code, tool_call }: HumanRequest): string {
    const index = this.#output.items.length;
    const question = { team: run.team_id, run: run.id, request };
    if (kind === "approval") {
      const item: McpApprovalRequest = {
        id: approvalId(question),
        type: "mcp_approval_request",
        server_label: source,
        name: tool_call?.name ?? "execute_code",
        arguments: tool_call ? argumentsTextOf(tool_call) : JSON.stringify({ code: code ?? "" }),
      };
      return this.#output.add(item) + this.#output.done({ item, index });
    }
    if (kind !== "tool" || tool_call === undefined) return "";
    const item: ResponseFunctionToolCall = {
      id: `fc_${request}`,
      type: "function_call",
      call_id: callId(question),
      name: tool_call.name,
      arguments: argumentsTextOf(tool_call),
      status: "completed",
    };
    const at = { item_id: `fc_${request}`, output_index: index };
    const argumentsText = item.arguments;
    return (
      this.#output.add({ ...item, arguments: "", status: "in_progress" }) +
      this.#output.event({
        type: "response.function_call_arguments.delta",
        ...at,
        delta: argumentsText,
      }) +
      this.#output.event({
        type: "response.function_call_arguments.done",
        ...at,
        arguments: argumentsText,
      }) +
      this.#output.done({ item, index })
    );
  }

  #call(id: string, item: McpCall): string {
    const index = this.#output.items.length;
    const itemAddress = { item_id: item.id, output_index: index };
    // Models use the same id again.
    const earlier = this.#open.get(id);
    this.#open.set(id, { item, index });
    return (
      (earlier === undefined ? "" : this.#giveUp(earlier)) +
      this.#output.add({ ...item, arguments: "" }) +
      this.#output.event({ type: "response.mcp_call.in_progress", ...itemAddress }) +
      this.#output.event({
        type: "response.mcp_call_arguments.done",
        ...itemAddress,
        arguments: item.arguments,
      })
    );
  }

  #result(id: string, output: string, isError: boolean): string {
    const call = this.#open.get(id);
    if (call === undefined) return "";
    this.#open.delete(id);
    const { item, index } = call;
    const itemAddress = { item_id: item.id, output_index: index };
    if (!isError) {
      return (
        this.#output.event({ type: "response.mcp_call.completed", ...itemAddress }) +
        this.#output.done({ item: { ...item, status: "completed", output }, index })
      );
    }
    const error = {
      type: "mcp_tool_execution_error" as const,
      content: [{ type: "text", text: output }],
    };
    return (
      this.#output.event({ type: "response.mcp_call.failed", ...itemAddress }) +
      this.#output.done({ item: { ...item, status: "failed", error }, index })
    );
  }

  #giveUp({ item, index }: Placed<McpCall>): string {
    return this.#output.done({ item: { ...item, status: "incomplete" }, index });
  }
}

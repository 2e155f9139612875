/**
 * Agents, teams, tools, models and all that they are made of, for programs that run them in memory or put them into a Worker.
 *
 * @module troupe
 */

// Components. Each class has its name, its types and its place in the registry in one of these files only: names here would be a
// second list of them.
export * from "./core/registry/basic-classes.ts";
export * from "./core/registry/team-classes.ts";
export * from "./core/registry/part-classes.ts";
export * from "./components/models/classes.ts";
export * from "./components/embeddings/classes.ts";
export * from "./components/memories/classes.ts";
export * from "./components/http-tool/classes.ts";
export * from "./components/a2a/classes.ts";
export * from "./components/mcp/classes.ts";
export * from "./components/sandbox/classes.ts";
export {
  a2aComponents,
  embeddingComponents,
  httpToolComponents,
  mcpComponents,
  memoryComponents,
  openAIComponents,
} from "./components/network-components.ts";

// Agents
export type {
  AssistantAgentOptions,
  ToolCallSummaryFormatter,
} from "./core/agents/assistant/options.ts";
export type { ToolSearchOptions } from "./core/agents/assistant/tool-search.ts";
export { BaseChatAgent } from "./core/agents/base-chat-agent.ts";
export type { ChatAgent, AgentResponse } from "./core/agents/chat-agent.ts";
export type {
  ApprovalFunction,
  ApprovalRequest,
  ApprovalResponse,
} from "./core/agents/code-executor/approval-function.ts";
export type { CodeExecutorAgentOptions } from "./core/agents/code-executor/options.ts";
export type { ExecutorPrompts } from "./core/agents/code-executor/prompts.ts";
export { createHandoff, type Handoff, type HandoffOptions } from "./core/agents/handoff.ts";
export type { PerSourceFilter } from "./core/agents/message-filter.ts";

// Teams
export { groupChatConfigSchema, loadGroupChat } from "./core/teams/group-chat-config.ts";
export { DiGraph, type DiGraphOptions } from "./core/teams/graph-flow/di-graph.ts";
export {
  DiGraphBuilder,
  type EdgeOptions,
  type GraphNodeRef,
} from "./core/teams/graph-flow/di-graph-builder.ts";
export type {
  Activation,
  DiGraphEdge,
  DiGraphNode,
  EdgeFunction,
  GraphEdge,
  GraphEdgeGroup,
  GraphEdgeGroups,
  GraphNode,
  GraphNodes,
  GroupedEdge,
} from "./core/teams/graph-flow/di-graph-node.ts";
export type { GraphCycles } from "./core/teams/graph-flow/find-cycles.ts";
export { GroupChat, type GroupChatOptions } from "./core/teams/group-chat.ts";
export type {
  Decision,
  GroupChatManager,
  GroupChatView,
  ManagerMessages,
  ParticipantInfo,
  Spoken,
  ThreadView,
} from "./core/teams/group-chat-manager.ts";
export type { OrchestratorPrompts } from "./core/teams/magentic-one/orchestrator-prompts.ts";
export type { SelectorFeedback } from "./core/teams/selector/prompts.ts";
export type { CandidateFunction, SelectorFunction } from "./core/teams/selector/settings.ts";
export type { Team } from "./core/teams/team.ts";

// Running
export { RunError, type RunPlace } from "./core/run/run-error.ts";
export type { HumanApproval } from "./core/turn/human-approval.ts";
export type { Approval, ApprovalRule } from "./core/rules/approval-rule.ts";
export type { Condition } from "./core/rules/condition.ts";
export {
  agentRunnable,
  type AnswerStream,
  type StreamFilter,
} from "./core/agents/agent-runnable.ts";
export type { TaskFile } from "./core/messages/task-files.ts";
export type { RunContext } from "./core/turn/run-context.ts";
export { runInner } from "./core/run/inner-run.ts";
export type { MemoryHostOptions, RunWatcher } from "./core/run/in-memory-host.ts";
export {
  pause,
  reset,
  resume,
  run,
  type RunOptions,
  runStream,
  steer,
  type Task,
  type TaskMessage,
} from "./core/agents/run.ts";
export type { Member, Progress, Runnable, TaskInput, TurnMessages } from "./core/run/runnable.ts";
export type { CancelledWork, RemoteWork } from "./core/steps/remote-work.ts";
export { rethrowSignal, TurnSignal, type TurnSignalKind } from "./core/steps/signals.ts";
export type {
  MessageWith,
  OutputOf,
  RunResult,
  StructuredOutput,
  TaskResult,
} from "./core/run/task-result.ts";
export type {
  HeldLogin,
  LoginAnswer,
  LoginChallenge,
  ServerLogins,
} from "./core/steps/server-logins.ts";
export type {
  StepAttempt,
  StepCache,
  StepKind,
  StepPolicy,
  StepSubject,
  TraceContext,
} from "./core/steps/step-attempt.ts";
export type {
  AllOptions,
  Answer,
  Approved,
  Branch,
  CallEstimate,
  JudgedQuestion,
  LoginOfQuestion,
  Question,
  RequestOfStep,
  ScopeSubject,
  StepOptions,
  StreamStepOptions,
  QuestionForm,
  ToolCallQuestion,
  TurnContext,
  ScopeOptions,
  SteeringOptions,
} from "./core/turn/turn-context.ts";
export { printStream, type PrintStreamOptions } from "./core/ui/print-stream.ts";

// Termination conditions
export {
  type AndTerminationState,
  BaseTermination,
  type CombinedTermination,
  type OrTerminationState,
} from "./core/conditions/base-termination.ts";
export type {
  MatchTermination,
  MatchTerminationState,
} from "./core/conditions/match-termination.ts";
export type {
  ConditionEnvironment,
  ConditionStep,
  Stop,
  TerminationCondition,
} from "./core/conditions/termination-condition.ts";

// Tools
export { FunctionTool, type FunctionToolOptions } from "./core/tools/function/function-tool.ts";
export type { TaskTool, TaskToolOptions } from "./core/teams/as-tools/task-tool.ts";
export type {
  ObjectSchema,
  ObjectSchemaIssue,
  ObjectSchemaResult,
} from "./core/json-schema/object-schema.ts";
export type { ArgumentsOf, ParametersSource } from "./core/tools/function/tool-parameters.ts";
export { resultText } from "./core/tools/tool-result.ts";
export { type ApprovalOptions, withApproval } from "./core/tools/with-approval.ts";
export type {
  AnyTool,
  BaseTool,
  ResultContent,
  StreamTool,
  Tool,
  ToolCallContext,
  ToolResult,
  ToolRun,
} from "./core/tools/tool.ts";
export { A2AError } from "./components/a2a/a2a-error.ts";
export { McpError } from "./components/mcp/answers/mcp-error.ts";
export type {
  McpAnswering,
  McpServerQuestion,
} from "./components/mcp/connection/server-question.ts";
export type {
  McpServerConfig,
  McpServerParams,
  SseServerParams,
  StdioServerParams,
  StreamableHttpServerParams,
} from "./components/mcp/connection/server-params.ts";
export { mcpServerTools } from "./components/mcp/tool-adapters.ts";
export type { McpTool } from "./components/mcp/tool-list.ts";
export type { McpDependencies } from "./components/mcp/connection/dependencies.ts";
export type { OutgoingDependencies } from "./outgoing/dependencies.ts";
export type { Workbench } from "./core/tools/workbench.ts";

// Code
export type { CodeBlock, CodeImage, CodeResult } from "./core/code/code-block.ts";
export { extractCodeBlocks } from "./core/code/markdown-code.ts";
export type { CodeExecutor } from "./core/code/code-executor.ts";
export { SandboxScripts } from "./components/sandbox/sandbox-scripts.ts";
export { sandboxComponents, sandboxPython } from "./components/sandbox/components.ts";
export type { ExecutorDependencies } from "./components/sandbox/sandbox-code-executor.ts";
export { sandboxJavaScript } from "./components/sandbox/sandbox-javascript.ts";
export type {
  JavaScriptCall,
  JavaScriptHost,
  JavaScriptOutcome,
} from "./core/code/javascript-host.ts";
export type { PythonHost } from "./core/python/python-host.ts";
export type { SandboxResult } from "./components/sandbox/client/execution-stream.ts";
export type { ProgramEvent } from "./components/sandbox/client/program-stream.ts";
export type { SandboxProblem } from "./components/sandbox/client/sandbox-problem.ts";
export {
  type Execution,
  type McpProgram,
  SandboxClient,
  type SandboxLanguage,
} from "./components/sandbox/client/sandbox-client.ts";
export type {
  SandboxAddress,
  SandboxFetch,
} from "./components/sandbox/client/sandbox-connection.ts";
export {
  SandboxError,
  type SandboxErrorOptions,
} from "./components/sandbox/client/sandbox-error.ts";

// Skills
export { Skill, SkillError, type SkillFiles, type SkillOptions } from "./core/skills/skill.ts";
export type { SkillFile } from "./core/skills/skill-files.ts";
export type {
  NamedSkill,
  OpenSkill,
  SkillCatalog,
  SkillSource,
  SkillSummary,
} from "./core/skills/skill-source.ts";
export type { ScriptCall, ScriptRunner } from "./core/skills/script-runner.ts";

// Model contexts and memory
export type {
  ChatCompletionContext,
  ModelCallAhead,
} from "./core/context/chat-completion-context.ts";
export type { EmbeddingClient, EmbeddingResult } from "./core/memory/embedding-client.ts";
export type {
  Citation,
  CollectionReader,
  CollectionResult,
  Embedding,
  FoundChunk,
  MemoryChange,
  MemoryEntry,
  MemoryHost,
  MemoryScope,
  MemorySource,
  MemoryStore,
  Recalled,
  RecallQuery,
  RecallResult,
} from "./core/memory/memory-host.ts";
export type { Hit } from "./core/search/rank.ts";
export { TEXT_LANGUAGES, type TextLanguage } from "./core/search/languages.ts";
export type { Analysis as TextAnalysis, Tokenizer } from "./core/search/tokens.ts";
export type { Memory } from "./core/memories/memory.ts";
export type { MemoryContent } from "./core/memory/memory-content.ts";
export type { RecallOptions } from "./core/memories/recall-memory.ts";
export type { MetadataFilter } from "./core/memory/metadata-filter.ts";

// Models
export { callModel, type ModelCallOptions, streamModel } from "./core/turn/call-model.ts";
export { RequestError, type RequestErrorOptions } from "./outgoing/request-error.ts";
export type { RetryPolicy } from "./core/steps/retry.ts";
export type {
  ChatCompletionClient,
  CreateOptions,
  CreateResult,
  FinishReason,
  AnswerForm,
  JsonOutput,
  TokenLogprob,
  ToolSchema,
  WrittenOptions,
  WrittenRequest,
} from "./core/models/chat-completion-client.ts";
export type { RequestUsage, TokenUsage, UsageDetails } from "./core/models/request-usage.ts";
export { isFile } from "./core/models/attached-files.ts";
export { Image } from "./components/models/image.ts";
export type { ImageMediaType } from "./core/models/images.ts";
export type { AttachedFile } from "./core/models/attached-files.ts";
export type {
  AssistantMessage,
  FunctionCall,
  FunctionExecutionResult,
  FunctionExecutionResultMessage,
  ImageContent,
  LLMMessage,
  MakerData,
  SystemMessage,
  UserMessage,
  UserPart,
} from "./core/models/llm-messages.ts";
export {
  ModelError,
  type ModelErrorKind,
  type ModelErrorOptions,
} from "./core/models/model-error.ts";
export { isClaude, isGemini, isLlama, isMistral, isOpenAI } from "./core/models/model-family.ts";
export type { ModelInfo } from "./core/models/model-info.ts";
export type {
  HttpModelClient,
  HttpModelClientSetup,
  ModelApi,
} from "./components/models/client/http-model-client.ts";
export type { SendOptions } from "./components/models/http/read-stream.ts";
export type { OtherForm, RequestForms } from "./components/models/http/request-forms.ts";
export type {
  ModelDependencies,
  WorkersAIBinding,
} from "./components/models/workers-ai/binding.ts";

// Messages
export type {
  CodeExecutionEvent,
  CodeGenerationEvent,
  MemoryQueryEvent,
  ModelClientStreamingChunkEvent,
  SelectorEvent,
  SelectSpeakerEvent,
  ThoughtEvent,
  ToolCallExecutionEvent,
  ToolCallRequestEvent,
  UserInputRequestedEvent,
} from "./core/messages/agent-events.ts";
export type {
  HandoffMessage,
  MultiModalMessage,
  StopMessage,
  StructuredMessage,
  TextMessage,
  ToolCallSummaryMessage,
} from "./core/messages/chat-messages.ts";
export {
  chunkEvents,
  createMessage,
  type MessageFields,
  type MessageOrigin,
} from "./core/messages/create.ts";
export { loadMessage } from "./core/messages/message-factory.ts";
export {
  isAgentEvent,
  isChatMessage,
  toModelMessage,
  toModelText,
  toText,
} from "./core/messages/views.ts";
export type { AgentEvent, ChatMessage, Message } from "./core/messages/message.ts";

// Components and state
export {
  Catalog,
  defineTeam,
  registerComponent,
  registerFunction,
  registerSkill,
  registerTool,
  type ToolCatalog,
} from "./core/tools/catalog.ts";
export { type ComponentModel } from "./core/component/component-model.ts";
export {
  type AnyComponentDefinition,
  type Component,
  type ComponentDefinition,
  type ComponentLoader,
  type ComponentRole,
  dumpComponent,
  type Note,
  type NoteLoader,
} from "./core/component/component.ts";
export { coreComponents } from "./core/registry/core-components.ts";
export {
  type FunctionCatalog,
  functionName,
  type NamedFunction,
} from "./core/component/functions.ts";
export {
  ComponentRegistry,
  type Inspected,
  type KnownComponent,
  type RegistryOptions,
} from "./core/registry/registry.ts";
export type { Preparation } from "./core/component/preparation.ts";
export type {
  CheckedComponent,
  ComponentRoles,
  NodeLoader,
} from "./core/component/checks/find-issues.ts";
export type { ComponentLimits } from "./core/component/checks/limits.ts";
export type { Template, TemplateCollection } from "./core/component/template.ts";
export type { BoardSharer, RunObserver, StateSharer, Unfinished } from "./core/run/run-observer.ts";
export type { Board, StoredChange } from "./core/board/board.ts";
export type {
  BoardTask,
  NewTask,
  TaskChange,
  TaskEdit,
  TaskState,
} from "./core/board/board-task.ts";
export type { TaskList } from "./core/board/task-list.ts";
export type { SharedState } from "./core/state/shared-state.ts";
export type { RecallMemory, RecallMemorySettings } from "./core/memories/recall-memory.ts";
export type { EmbeddingUse } from "./core/memories/embedding-use.ts";
export type { Learned, ScopedMemory, ScopedMemoryOptions } from "./core/memories/scoped-memory.ts";
export { ItemLog, type LogChanges, type LogIndex, type LogSource } from "./core/state/item-log.ts";
export type { Stateful, StateParts } from "./core/state/stateful.ts";

// Errors and JSON
export {
  ComponentError,
  type ComponentErrorKind,
  type Issue,
  MessageError,
  StateError,
  TaskError,
  TroupeError,
  type TroupeErrorOptions,
  ValueError,
} from "./core/errors.ts";
export type { Json, JsonObject } from "./core/json.ts";
export { extractJson } from "./core/text/model-json.ts";
export type { CamelCase } from "./core/options/camel-case.ts";
export type { CamelKeys } from "./core/options/option-names.ts";

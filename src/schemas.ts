// The zod schemas of what the HTTP API takes and answers, component JSON included, and their types: `troupe/schemas`.

// Messages
export { requestUsageSchema } from "./core/models/llm-messages.ts";
export { type RequestUsage } from "./core/models/request-usage.ts";
export { attachedFileSchema } from "./core/models/llm-messages.ts";
export type { AttachedFile } from "./core/models/attached-files.ts";
export {
  functionCallSchema,
  functionExecutionResultSchema,
  imageSchema,
  type FunctionCall,
  type FunctionExecutionResult,
  type ImageContent,
} from "./core/models/llm-messages.ts";
export {
  codeExecutionEventSchema,
  codeGenerationEventSchema,
  memoryQueryEventSchema,
  modelClientStreamingChunkEventSchema,
  selectorEventSchema,
  selectSpeakerEventSchema,
  thoughtEventSchema,
  toolCallExecutionEventSchema,
  toolCallRequestEventSchema,
  userInputRequestedEventSchema,
  type CodeExecutionEvent,
  type CodeGenerationEvent,
  type MemoryQueryEvent,
  type ModelClientStreamingChunkEvent,
  type SelectorEvent,
  type SelectSpeakerEvent,
  type ThoughtEvent,
  type ToolCallExecutionEvent,
  type ToolCallRequestEvent,
  type UserInputRequestedEvent,
} from "./core/messages/agent-events.ts";
export {
  handoffMessageSchema,
  multiModalMessageSchema,
  stopMessageSchema,
  structuredMessageSchema,
  textMessageSchema,
  toolCallSummaryMessageSchema,
  type HandoffMessage,
  type MultiModalMessage,
  type StopMessage,
  type StructuredMessage,
  type TextMessage,
  type ToolCallSummaryMessage,
} from "./core/messages/chat-messages.ts";
export {
  agentEventSchema,
  plainChatMessageSchema,
  type AgentEvent,
  type ChatMessage,
  type Message,
} from "./core/messages/message.ts";
export { messageSchema, type MessageSchema } from "./contract/message.ts";

// Memories and collections
export {
  changeMemorySchema,
  createMemoriesSchema,
  forgottenSchema,
  memoryPageSchema,
  memorySchema,
  type Memory,
  type MemoryList,
} from "./contract/memory.ts";
export {
  chunkPageSchema,
  collectionPageSchema,
  collectionResultSchema,
  collectionSchema,
  documentPageSchema,
  documentSchema,
  putCollectionSchema,
  searchCollectionSchema,
  type ChunkPage,
  type CollectionInfo,
  type DocumentInfo,
} from "./contract/files/collection.ts";

// Streams
export {
  activitySchema,
  discardSchema,
  retractSchema,
  retryingSchema,
  runResultSchema,
  streamFrameSchema,
  tenantFrameSchema,
  textSchema,
  turnFrameSchema,
  type ActivityFrame,
  type DiscardFrame,
  type RetractFrame,
  type RetryingFrame,
  type RunResultFrame,
  type StreamFrame,
  type TenantFrame,
  type TextFrame,
  type TurnFrame,
} from "./contract/stream/stream-frame.ts";

// Teams
export {
  componentBodySchema,
  componentInputSchema,
  componentsSchema,
  createTeamSchema,
  forkTeamSchema,
  messagePageSchema,
  sharedConversationSchema,
  metadataSchema,
  stateSchema,
  teamSchema,
  templatesSchema,
  validSchema,
  type MessagePage,
  type NotedTeam,
  type TeamInfo,
} from "./contract/team.ts";
export {
  listedRequestSchema,
  listedRunSchema,
  listedTeamSchema,
  requestListSchema,
  runListSchema,
  runTotalsSchema,
  teamListSchema,
  type ListedRequest,
  type ListedRun,
  type ListedTeam,
  type RequestList,
  type RunList,
  type TeamList,
} from "./contract/directory.ts";
export { failureListSchema, type FailureGroup, type FailureList } from "./contract/run-failures.ts";
export { filePageSchema, fileSchema } from "./contract/files/workspace-files.ts";
export {
  changeVersionSchema,
  teamVersionPageSchema,
  teamVersionSchema,
  versionWithComponentSchema,
  type TeamVersion,
  type TeamVersionPage,
  type VersionWithComponent,
} from "./contract/team/version.ts";
export { stagedStateSchema } from "./contract/team/state-parts.ts";

// Runs
export {
  answerSchema,
  changeRunSchema,
  askedRequestSchema,
  humanRequestSchema,
  humanRequestsSchema,
  answeredRunSchema,
  runMessageSchema,
  runPageSchema,
  runSchema,
  sentMessageSchema,
  startRunSchema,
  stopRunSchema,
  type AskedRequest,
  type HumanRequest,
  type RunError,
  type RunInfo,
  type RunPage,
  type RunStatus,
} from "./contract/run.ts";
export { turnPageSchema, turnSchema, type TurnInfo, type TurnPage } from "./contract/turn.ts";
// As a whole: the schema of an answer is named where it is and in its command, and nowhere else.
export * from "./contract/team/trace.ts";
export { modelRequestSchema, type ModelRequest } from "./contract/team/model-request.ts";
export {
  foundInTeamsSchema,
  foundMessagesSchema,
  type FoundInTeams,
  type FoundMessages,
} from "./contract/team/found-messages.ts";
export { usageByModelSchema, type UsageByModel } from "./contract/usage/usage-schemas.ts";
export {
  createScheduleSchema,
  patchScheduleSchema,
  type ScheduleInfo,
  type SchedulePage,
  schedulePageSchema,
  scheduleSchema,
} from "./contract/team/schedule.ts";
export {
  createdTriggerSchema,
  putTriggerSchema,
  receivedEventSchema,
  rotateTriggerSchema,
  triggerDeliveryPageSchema,
  triggerDeliverySchema,
  triggerPageSchema,
  triggerSchema,
  triggerSecretSchema,
} from "./contract/team/trigger.ts";
export {
  addTaskSchema,
  boardSchema,
  changeTaskSchema,
  taskOnBoardSchema,
} from "./contract/team/board.ts";
export { boardTaskSchema, taskChangeSchema, taskStates } from "./core/board/board-task.ts";
export {
  decisionPageSchema,
  decisionSchema,
  givenApprovalSchema,
  storedApprovalPageSchema,
  storedApprovalSchema,
} from "./contract/approval.ts";
export { approvalRuleSchema, approvalSchema } from "./core/rules/approval-rule.ts";
export { type ComparedSchema, conditionSchema } from "./core/rules/condition.ts";
export { healthSchema } from "./contract/commands/health.ts";
export {
  putTeamToolSchema,
  type PutTeamTool,
  teamToolSchema,
  type TeamTool,
} from "./contract/team-tool.ts";
export { notifySchema, receiversSchema, shownReceiverSchema } from "./contract/notify.ts";

// Tenants
export { type ApprovalScope, SCOPES, type Scope } from "./contract/constants.ts";
export {
  listedSkillSchema,
  type ListedSkill,
  putSkillSchema,
  type PutSkill,
  skillPageSchema,
  type SkillPage,
  skillSchema,
  type SkillInfo,
  skillVersionPageSchema,
  type SkillVersionPage,
  skillVersionSchema,
  type SkillVersion,
} from "./contract/tenant/skill.ts";
export {
  connectionSchema,
  connectionsSchema,
  createConnectionSchema,
  startedConnectionSchema,
  type ConnectionInfo,
  type ConnectionList,
  type CreateConnection,
  type StartedConnection,
} from "./contract/tenant/connection.ts";
export {
  createdKeySchema,
  createKeySchema,
  createTokenSchema,
  keySchema,
  keysSchema,
  scopesSchema,
  tokenSchema,
  tokensSchema,
  whoamiSchema,
  type KeyInfo,
} from "./contract/tenant/key.ts";
export {
  putTenantSchema,
  tenantLimitsSchema,
  tenantListSchema,
  tenantSchema,
  type TenantInfo,
  type TenantLimits,
  type TenantList,
} from "./contract/tenant/tenant.ts";
export { usageReportSchema, type UsageReport } from "./contract/usage/usage-report.ts";
export {
  createdWebhookSchema,
  deliveryPageSchema,
  deliverySchema,
  putWebhookSchema,
  rotateSecretSchema,
  runWebhookSchema,
  webhookSchema,
  webhookSecretSchema,
  webhooksSchema,
  webhookTestSchema,
  type DeliveryPage,
  type RunWebhook,
  type WebhookDelivery,
  type WebhookInfo,
  type WebhookSecret,
} from "./contract/webhook.ts";

// Problems
export { problemSchema, type ProblemDocument as Problem } from "./contract/problem.ts";

// Component JSON, and the data of components
export type { AnyJsonSchema, ComponentModelSchema, OpenObjectSchema } from "./contract/common.ts";
export { codeBlockSchema, codeResultSchema } from "./core/code/code-block.ts";
export { componentModelSchema, type ComponentModel } from "./core/component/component-model.ts";
export type { MemoryContent } from "./core/memory/memory-content.ts";
export { memoryContentSchema } from "./core/memory/memory-schemas.ts";
export {
  assistantMessageSchema,
  functionExecutionResultMessageSchema,
  llmMessageSchema,
  makerDataSchema,
  systemMessageSchema,
  userMessageSchema,
} from "./core/models/llm-messages.ts";
export {
  diskCacheSchema,
  memoryCacheSchema,
  redisCacheSchema,
} from "./core/models/clients/cache-store.ts";
export { modelInfoSchema } from "./core/models/model-info.ts";
export { resultContentSchema, toolResultSchema } from "./core/tools/tool.ts";
export { httpToolConfigSchema } from "./components/http-tool/config.ts";
export { a2aAgentConfigSchema } from "./components/a2a/config.ts";
export {
  mcpServerParamsSchema,
  sseServerParamsSchema,
  stdioServerParamsSchema,
  streamableHttpServerParamsSchema,
} from "./components/mcp/connection/server-params.ts";
export { chromaDBConfigSchema } from "./components/memories/chromadb-vector-memory.ts";
export { mem0ConfigSchema } from "./components/memories/mem0-memory.ts";
export { redisConfigSchema } from "./components/memories/redis-memory.ts";
export { openAIEmbeddingConfigSchema } from "./components/embeddings/openai-embedding-client.ts";
export { workersAIEmbeddingConfigSchema } from "./components/embeddings/workers-ai-embedding-client.ts";
export { anthropicConfigSchema } from "./components/models/anthropic/config.ts";
export { ollamaConfigSchema } from "./components/models/ollama/config.ts";
export { openAIAgentConfigSchema } from "./components/models/openai/agent/config.ts";
export { azureConfigSchema, openAIConfigSchema } from "./components/models/openai/config.ts";
export { workersAIConfigSchema } from "./components/models/workers-ai/config.ts";

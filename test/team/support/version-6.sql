-- A team stored by version 6 of the tables: a run that waits for an answer, a queued run, a schedule. {image} stands for the base64 of their picture.
CREATE TABLE event (
    seq integer primary key, run integer not null, turn integer not null, kind text not null, id text,
    body text, retracted integer not null default 0, pieces text
  );
insert into event values (1, 1, 1, 'message', '7cec1fac-17a3-c6d3-dd3c-0fb9b7508c60', '{"id":"7cec1fac-17a3-c6d3-dd3c-0fb9b7508c60","source":"user","models_usage":null,"metadata":{},"created_at":"2026-11-24T12:06:19.220Z","content":["What is this?",{"data":"{image}"}],"type":"MultiModalMessage"}', 0, null);
insert into event values (2, 1, 2, 'message', '130dc5dc-2c9b-ef17-c334-59a9988315b5', '{"id":"130dc5dc-2c9b-ef17-c334-59a9988315b5","source":"helper","models_usage":{"prompt_tokens":4,"completion_tokens":2},"metadata":{},"created_at":"2026-11-24T12:06:19.240Z","content":"A picture.","type":"TextMessage"}', 0, null);
insert into event values (3, 1, 3, 'message', '7e16eabb-8a27-dbf8-d272-27d6d79c451a', '{"id":"7e16eabb-8a27-dbf8-d272-27d6d79c451a","source":"human","models_usage":null,"metadata":{},"created_at":"2026-11-24T12:06:19.246Z","request_id":"28b09695-f408-e55d-3530-861a7c063b55","content":"","type":"UserInputRequestedEvent"}', 0, null);
CREATE TABLE head (path text, turn integer, body text, primary key (path, turn)) without rowid;
insert into head values ('', 1, '{"commit":{"turn":1,"run":1,"next":1,"time":{"at":1795521979235,"ran":4},"usage":{"prompt_tokens":0,"completion_tokens":0},"models":{},"event":1,"since":0,"empty":false},"heads":{"":{"turn":0,"started":0,"condition":{"count":1},"cursors":{"helper":0,"human":0},"manager":0}}}');
insert into head values ('', 2, '{"commit":{"turn":2,"run":1,"next":2,"time":{"at":1795521979246,"ran":15},"usage":{"prompt_tokens":4,"completion_tokens":2},"models":{"replay":{"prompt_tokens":4,"completion_tokens":2,"cost":null}},"spans":[["a",0,"speaker:helper",0,5],["m",1,"model:0",5,0,"replay","replay",4,2]],"event":2,"since":0,"empty":false},"heads":{"":{"turn":1,"started":0,"condition":{"count":2},"cursors":{"helper":1,"human":0},"manager":1}}}');
insert into head values ('helper', 2, '{"heads":{"helper/model_client":{"position":1,"usage":{"prompt_tokens":4,"completion_tokens":2}}}}');
CREATE TABLE idempotency (key text primary key, hash text not null, run text not null) without rowid;
CREATE TABLE log (
    path text, generation integer, start integer, count integer not null, turn integer not null,
    body text, primary key (path, generation, start)
  ) without rowid;
insert into log values ('helper/context/messages', 0, 0, 2, 2, '{"refs":[{"content":["What is this?",{"data":"\u00001.0"}],"source":"user","type":"UserMessage"},{"content":"A picture.","thought":null,"source":"helper","type":"AssistantMessage"}]}');
insert into log values ('thread', 0, 0, 1, 1, '{"refs":[{"message":"\u00001","shared":true,"by":null}]}');
insert into log values ('thread', 0, 1, 1, 2, '{"refs":[{"message":"\u00002","shared":true,"by":"helper"}]}');
CREATE TABLE meta (name text primary key, value text) without rowid;
insert into meta values ('component', '{"provider":"RoundRobinGroupChat","config":{"participants":[{"provider":"AssistantAgent","config":{"name":"helper","description":"","reflect_on_tool_use":false,"tool_call_summary_format":"{result}","model_client":{"provider":"autogen_ext.models.replay.ReplayChatCompletionClient","config":{"chat_completions":["A picture.","Good."],"cycle":true}}}},{"provider":"UserProxyAgent","config":{"name":"human","description":""}}],"termination_condition":{"provider":"MaxMessageTermination","config":{"max_messages":4}}}}');
insert into meta values ('schema', '6');
insert into meta values ('team', '{"id":"stored","tenant":"local","session":"7b537276-83e5-4d38-b990-63f2e48aea98","label":null,"metadata":{},"component_version":1,"usage":{"prompt_tokens":0,"completion_tokens":0},"cost":null,"epoch":0,"idempotency":null,"forked_from":null,"created_at":"2026-11-24T12:06:19.072Z","updated_at":"2026-11-24T12:06:19.072Z"}');
CREATE TABLE outbox (number integer primary key, entry text, place integer) without rowid;
insert into outbox values (1795521979336000, null, 1795521979089000);
CREATE TABLE question (
    id text primary key, ordinal integer not null, run text not null, question text not null, created_at integer not null,
    expires_at integer, ran integer not null, answer text, answered_at integer
  ) without rowid;
insert into question values ('28b09695-f408-e55d-3530-861a7c063b55', 1, '0db602f7-0e50-4f7d-821c-e3467b04f847', '{"id":"28b09695-f408-e55d-3530-861a7c063b55","kind":"input","source":"human","prompt":"Enter your response: ","timeout_seconds":null,"default_answer":null}', 1795521979279, null, 48, null, null);
CREATE TABLE queue (place integer not null, n integer not null, id text not null unique, task text, record text not null, primary key (place, n)) without rowid;
insert into queue values (9007199254740991, 1, '32c675f8-bbf1-4cf6-8101-ba59ef03c157', '[{"id":"ceef81fe-4add-62ba-ea2f-c1b70523133d","source":"user","models_usage":null,"metadata":{},"created_at":"2026-11-24T12:06:19.336Z","content":["What is this?",{"data":"{image}"}],"type":"MultiModalMessage"}]', '{"id":"32c675f8-bbf1-4cf6-8101-ba59ef03c157","status":"queued","output_task_messages":true,"metadata":{},"timeout_seconds":null,"max_total_tokens":null,"max_cost":null,"retry_of":null,"first_turn":0,"first_turn_id":"32c675f8-bbf1-4cf6-8101-ba59ef03c157/0","first_moment":{"at":1795521979336,"ran":0},"taken_over":null,"epoch":0,"first_event":0,"last_event":null,"next_turn":0,"turn":2,"last_turn":null,"ran_before":0,"ran":0,"usage":{"prompt_tokens":0,"completion_tokens":0},"models":{},"stop_requested":null,"pause_requested":false,"resuming":false,"wake_at":null,"rest_since":null,"recoveries":0,"recovery_mark":null,"stop_reason":null,"error":null,"webhook":null,"created_at":"2026-11-24T12:06:19.336Z","started_at":null,"ended_at":null}');
CREATE TABLE run (seq integer primary key, id text not null unique, task text, record text not null);
insert into run values (1, '0db602f7-0e50-4f7d-821c-e3467b04f847', '[{"id":"7cec1fac-17a3-c6d3-dd3c-0fb9b7508c60","source":"user","models_usage":null,"metadata":{},"created_at":"2026-11-24T12:06:19.220Z","content":["What is this?",{"data":"{image}"}],"type":"MultiModalMessage"}]', '{"id":"0db602f7-0e50-4f7d-821c-e3467b04f847","status":"waiting","output_task_messages":true,"metadata":{},"timeout_seconds":null,"max_total_tokens":null,"max_cost":null,"retry_of":null,"first_turn":0,"first_turn_id":"0db602f7-0e50-4f7d-821c-e3467b04f847/0","first_moment":{"at":1795521979220,"ran":0},"taken_over":null,"epoch":0,"first_event":0,"last_event":null,"next_turn":2,"turn":2,"last_turn":null,"ran_before":0,"ran":49,"usage":{"prompt_tokens":4,"completion_tokens":2},"models":{"replay":{"prompt_tokens":4,"completion_tokens":2,"cost":null}},"stop_requested":null,"pause_requested":false,"resuming":false,"wake_at":null,"rest_since":null,"recoveries":0,"recovery_mark":null,"stop_reason":null,"error":null,"webhook":null,"created_at":"2026-11-24T12:06:19.220Z","started_at":"2026-11-24T12:06:19.220Z","ended_at":null,"trace":{"after":0}}');
CREATE TABLE schedule (seq integer primary key, id text not null unique, next_at integer, record text not null, task text);
insert into schedule values (1, 'yearly', 4102444800000, '{"id":"yearly","when":{"cron":"0 0 1 1 *","timezone":"UTC"},"run":{"output_task_messages":true,"on_conflict":"reject","timeout_seconds":null,"max_total_tokens":null,"max_cost":null,"metadata":{}},"enabled":true,"last_at":null,"last_run":null,"last_error":null,"created_at":"2026-11-24T12:06:19.153Z","idempotency":null}', '[{"source":"user","models_usage":null,"metadata":{},"content":["What is this?",{"data":"{image}"}],"type":"MultiModalMessage"}]');
CREATE TABLE step (
    key text primary key, state text not null, attempt integer not null, policy text not null,
    fingerprint text not null, result text, at integer, ran integer, kind text not null default 'effect', trace text
  ) without rowid;

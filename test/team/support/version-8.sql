-- A team stored by version 8 of the tables, which kept no steps: one run with two calls of its model, and a tool between them.
CREATE TABLE event (
    seq integer primary key, run integer not null, turn integer not null, kind text not null, id text,
    body text, retracted integer not null default 0, pieces text
  );
insert into event values(1,1,1,'message','296e7694-a4cb-e87c-3822-3391c38c9f1b','{"id":"296e7694-a4cb-e87c-3822-3391c38c9f1b","source":"user","models_usage":null,"metadata":{},"created_at":"2026-11-24T19:52:30.894Z","content":"What is six times seven?","type":"TextMessage"}',0,NULL);
insert into event values(2,1,2,'message','7f4031bc-079c-215c-f9b8-f8c019bfa2b0','{"id":"7f4031bc-079c-215c-f9b8-f8c019bfa2b0","source":"clerk","models_usage":{"prompt_tokens":5,"completion_tokens":3},"metadata":{},"created_at":"2026-11-24T19:52:30.903Z","content":[{"id":"c1","arguments":"{\"expression\":\"6 * 7\"}","name":"calculator"}],"type":"ToolCallRequestEvent"}',0,NULL);
insert into event values(3,1,2,'message','07150c6c-115f-f228-fd43-79a388e8acee','{"id":"07150c6c-115f-f228-fd43-79a388e8acee","source":"clerk","models_usage":null,"metadata":{},"created_at":"2026-11-24T19:52:30.905Z","content":[{"content":"42","name":"calculator","call_id":"c1","is_error":false}],"type":"ToolCallExecutionEvent"}',0,NULL);
insert into event values(4,1,2,'message','790b83f1-3dcc-e707-d69c-dbc93837ed3b','{"id":"790b83f1-3dcc-e707-d69c-dbc93837ed3b","source":"clerk","models_usage":{"prompt_tokens":5,"completion_tokens":3},"metadata":{},"created_at":"2026-11-24T19:52:30.907Z","content":"It is 42.","type":"TextMessage"}',0,NULL);
insert into event values(5,1,2,'result',NULL,'{"type":"TaskResult","stop_reason":"Maximum number of turns 1 reached.","usage":{"prompt_tokens":10,"completion_tokens":6},"message_ids":["296e7694-a4cb-e87c-3822-3391c38c9f1b","7f4031bc-079c-215c-f9b8-f8c019bfa2b0","07150c6c-115f-f228-fd43-79a388e8acee","790b83f1-3dcc-e707-d69c-dbc93837ed3b"]}',0,NULL);
CREATE TABLE head (path text, turn integer, body text, primary key (path, turn)) without rowid;
insert into head values('',1,'{"commit":{"turn":1,"run":1,"next":1,"time":{"at":1795549950900,"ran":4},"usage":{"prompt_tokens":0,"completion_tokens":0},"models":{},"event":1,"since":0,"empty":false},"heads":{}}');
insert into head values('',2,'{"commit":{"turn":2,"run":1,"next":2,"time":{"at":1795549950908,"ran":12},"usage":{"prompt_tokens":10,"completion_tokens":6},"models":{"replay":{"prompt_tokens":10,"completion_tokens":6,"cost":null}},"spans":[["a",0,"speaker:clerk",0,7],["m",1,"model:0",3,0,"replay","replay",5,3],["t",1,"tool:0:0/call",4,1,"calculator"],["m",1,"model:1",7,0,"replay","replay",5,3]],"event":5,"since":0,"empty":false},"heads":{"":{"turn":0,"started":0,"condition":null,"cursors":{"clerk":1},"run_start":0,"manager":0}}}');
insert into head values('clerk',2,'{"heads":{"clerk/model_client":{"position":2,"usage":{"prompt_tokens":10,"completion_tokens":6}}}}');
CREATE TABLE idempotency (key text primary key, hash text not null, run text not null) without rowid;
CREATE TABLE log (
    path text, generation integer, start integer, count integer not null, turn integer not null,
    body text, primary key (path, generation, start)
  ) without rowid;
insert into log values('clerk/context/messages',0,0,4,2,'[{"content":"What is six times seven?","source":"user","type":"UserMessage"},{"content":[{"id":"c1","arguments":"{\"expression\":\"6 * 7\"}","name":"calculator"}],"thought":null,"source":"clerk","type":"AssistantMessage"},{"content":[{"content":"42","name":"calculator","call_id":"c1","is_error":false}],"type":"FunctionExecutionResultMessage"},{"content":"It is 42.","thought":null,"source":"clerk","type":"AssistantMessage"}]');
insert into log values('thread',0,0,1,1,'{"refs":[{"message":"\u00001","shared":true,"by":null}]}');
insert into log values('thread',0,1,3,2,'{"refs":[{"message":"\u00002","shared":false,"by":"clerk"},{"message":"\u00003","shared":false,"by":"clerk"},{"message":"\u00004","shared":true,"by":"clerk"}]}');
CREATE TABLE meta (name text primary key, value text) without rowid;
insert into meta values('component','{"provider":"RoundRobinGroupChat","config":{"max_turns":1,"participants":[{"provider":"AssistantAgent","config":{"name":"clerk","tools":[{"provider":"FunctionTool","config":{"name":"calculator"}}],"reflect_on_tool_use":true,"model_client":{"provider":"autogen_ext.models.replay.ReplayChatCompletionClient","config":{"chat_completions":[{"finish_reason":"function_calls","content":[{"id":"c1","name":"calculator","arguments":"{\"expression\":\"6 * 7\"}"}],"usage":{"prompt_tokens":5,"completion_tokens":3},"cached":false},"It is 42."],"cycle":true,"model_info":{"vision":false,"function_calling":true,"json_output":false,"family":"unknown","structured_output":false}}}}}]}}');
insert into meta values('schema','8');
insert into meta values('team','{"id":"old-team","tenant":"local","session":"295816d2-2b88-4933-9324-e2f6bcb897d5","label":null,"metadata":{},"component_version":1,"usage":{"prompt_tokens":10,"completion_tokens":6},"cost":null,"epoch":0,"idempotency":null,"forked_from":null,"created_at":"2026-11-24T19:52:30.860Z","updated_at":"2026-11-24T19:52:30.909Z"}');
CREATE TABLE outbox (number integer primary key, entry text, place integer) without rowid;
CREATE TABLE question (
    id text primary key, ordinal integer not null, run text not null, question text not null, created_at integer not null,
    expires_at integer, ran integer not null, answer text, answered_at integer
  ) without rowid;
CREATE TABLE run (seq integer primary key, id text not null unique, task text, record text not null);
insert into run values(1,'7d7372f8-3a16-4586-9c7f-b1c5d6400f3e','[{"id":"296e7694-a4cb-e87c-3822-3391c38c9f1b","source":"user","models_usage":null,"metadata":{},"created_at":"2026-11-24T19:52:30.894Z","content":"What is six times seven?","type":"TextMessage"}]','{"id":"7d7372f8-3a16-4586-9c7f-b1c5d6400f3e","status":"completed","output_task_messages":true,"metadata":{},"timeout_seconds":null,"max_total_tokens":null,"max_cost":null,"retry_of":null,"first_turn":0,"first_turn_id":"7d7372f8-3a16-4586-9c7f-b1c5d6400f3e/0","first_moment":{"at":1795549950894,"ran":0},"taken_over":null,"epoch":0,"first_event":0,"last_event":5,"next_turn":2,"turn":2,"last_turn":{"started":{"at":1795549950908,"ran":12}},"ran_before":0,"ran":12,"usage":{"prompt_tokens":10,"completion_tokens":6},"models":{"replay":{"prompt_tokens":10,"completion_tokens":6,"cost":null}},"stop_requested":null,"pause_requested":false,"resuming":false,"wake_at":null,"rest_since":null,"recoveries":0,"recovery_mark":null,"stop_reason":"Maximum number of turns 1 reached.","error":null,"webhook":null,"created_at":"2026-11-24T19:52:30.894Z","started_at":"2026-11-24T19:52:30.894Z","ended_at":"2026-11-24T19:52:30.908Z","trace":{"after":0}}');
CREATE TABLE step (
    key text primary key, state text not null, attempt integer not null, policy text not null,
    fingerprint text not null, result text, at integer, ran integer, kind text not null default 'effect', trace text
  ) without rowid;

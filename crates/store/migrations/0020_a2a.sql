-- Conversations with clients of A2A: what they sent beside text, the order of what happened to their tasks, and guests.

alter table tasks add column context_id text;
alter table tasks add column foreign_id text;
alter table tasks add column foreign_parts text;
alter table tasks add column foreign_extras text;
alter table tasks add column foreign_hash bytea;
alter table tasks add column status_at bigint not null default 0;
alter table tasks add column artifact_bytes bigint not null default 0;
-- Only of a published task that is part of a conversation, so that no other task costs these indexes anything.
alter table tasks add column a2a_state bigint;
create index tasks_in_state on tasks (initiator_id, target_id, a2a_state, status_at, id) where a2a_state is not null;
create index tasks_of_context on tasks (initiator_id, target_id, context_id, a2a_state, status_at, id)
    where a2a_state is not null;
create index tasks_by_foreign_hash on tasks (foreign_hash, created_at) where foreign_hash is not null;

alter table messages add column foreign_id text;
alter table messages add column foreign_parts text;
alter table messages add column foreign_extras text;
alter table messages add column foreign_hash bytea;
alter table messages add column artifact text;
alter table messages add column direct bigint not null default 0;
create index messages_by_foreign_hash on messages (foreign_hash, created_at) where foreign_hash is not null;

-- One number for what happened to a task: changes of its status and messages together.
alter table messages add column step bigint;
create index messages_by_step on messages (task_id, step) where step is not null;
alter table task_log add column step bigint;
create index task_log_by_step on task_log (task_id, step) where step is not null;

-- Agents that their host made for others, to be reached by them at one address.
create table guests (
    agent_id text primary key,
    host_id text not null,
    expires_at bigint,
    created_at bigint not null
) /* sqlite: without rowid */;
create index guests_of_host on guests (host_id, created_at, agent_id);
create index guests_by_end on guests (expires_at) where expires_at is not null;

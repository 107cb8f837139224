-- What was decided about tasks that were held at a gate: who, when, by which way and from where, and what the task said
-- then, as a hash. A decision outlives its task. The parties' names and the title are as of that time.
create table decisions (
    task_id text not null,
    attempt bigint not null,
    agent_id text not null,
    decided_at bigint not null,
    verdict text not null,
    title text not null,
    sender_id text not null,
    sender_name text not null,
    note text,
    search text not null,
    version bigint not null,
    files bigint not null,
    content_hash bytea not null,
    way text,
    device text,
    session text,
    address text,
    primary key (task_id, attempt)
) /* sqlite: without rowid */;
-- postgres: alter table decisions alter column task_id type text collate "C";
create index decisions_of_agent on decisions (agent_id, decided_at, task_id, attempt);
create index decisions_by_age on decisions (decided_at);

-- When the lease of a working task ran out, while its target has given no sign of life since.
alter table tasks add column stalled_at bigint;
-- How many messages a task had when it last began to wait for its initiator: whoever wrote later has answered.
alter table tasks add column asked_after bigint;
update tasks set asked_after = message_count where status in ('input-required', 'auth-required');

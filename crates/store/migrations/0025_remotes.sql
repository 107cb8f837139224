-- Agents elsewhere, which the hub calls by A2A, and where their tasks stand on the other side.
alter table agents add column is_remote bigint not null default 0;

create table remotes (
    agent_id text primary key,
    owner_id text not null,
    card_url text not null,
    -- What the hub authenticates itself with, as it is sent.
    auth_type text,
    auth_value text,
    auth_header text,
    origins text not null,
    keys text,
    on_unclear text not null,
    -- What the card said when it was read last.
    url text not null,
    binding text not null,
    tenant text,
    streams bigint not null,
    pushes bigint not null,
    signature text not null,
    pinned text,
    card_version text not null,
    card_read_at bigint not null,
    card_next_at bigint not null,
    paused text,
    paused_detail text,
    paused_at bigint,
    failing_since bigint,
    last_error text,
    version bigint not null,
    lease_holder text not null default '',
    lease_until bigint not null default 0,
    next_at bigint,
    created_at bigint not null
) /* sqlite: without rowid */;
create index remotes_of_owner on remotes (owner_id, created_at, agent_id);
create index remotes_due on remotes (next_at, agent_id) where next_at is not null;

create table remote_tasks (
    task_id text primary key,
    agent_id text not null,
    attempt bigint not null,
    foreign_id text,
    foreign_context text,
    sent_to bigint,
    is_sending bigint not null,
    failures bigint not null,
    next_at bigint,
    is_ended bigint not null,
    heard_at bigint not null,
    pause_ms bigint not null,
    stream_until bigint,
    stream_after bigint,
    push_path text,
    push_token text,
    seen text,
    artifacts text not null,
    turn bigint not null
) /* sqlite: without rowid */;
create index remote_tasks_due on remote_tasks (agent_id, next_at, task_id);
create index remote_tasks_streamed on remote_tasks (agent_id, stream_until) where stream_until is not null;
create unique index remote_tasks_by_push_path on remote_tasks (push_path) where push_path is not null;
-- postgres: alter table remote_tasks alter column task_id type text collate "C";

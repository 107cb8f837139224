-- One text for SQLite and PostgreSQL. Times are milliseconds, flags 0 or 1, JSON is text.
-- A table marked "sqlite: without rowid" is kept in the order of its primary key there.

create table agents (
    id text primary key,
    name text not null,
    description text,
    capabilities text not null,
    metadata text,
    public_key text,
    key_hash bytea not null,
    discoverable bigint not null,
    auto_accept bigint not null,
    default_approval text,
    costs_credits bigint not null,
    credits_micro bigint not null,
    search_text text not null,
    created_at bigint not null
);
create unique index agents_by_key on agents (key_hash);
create index agents_by_age on agents (created_at, id);
create index agents_in_directory on agents (created_at, id) where discoverable = 1;

create table agent_capabilities (
    capability text not null,
    agent_id text not null,
    primary key (capability, agent_id)
) /* sqlite: without rowid */;
create index capabilities_of_agent on agent_capabilities (agent_id);

-- Apart from the profile, because the counter moves with every event and the profile hardly ever.
create table mailboxes (
    agent_id text primary key,
    last_seq bigint not null,
    events_acked bigint not null,
    updates_acked bigint not null,
    events_fetched bigint not null,
    tasks_ended bigint not null,
    tasks_completed bigint not null
) /* sqlite: without rowid */;

create table events (
    agent_id text not null,
    seq bigint not null,
    type text not null,
    task_id text,
    message_id text,
    from_agent_id text,
    data text not null,
    created_at bigint not null,
    primary key (agent_id, seq)
) /* sqlite: without rowid */;
create index events_of_task on events (task_id) where task_id is not null;

-- Two rows a connection, one for each side.
create table connections (
    agent_id text not null,
    peer_id text not null,
    connection_id text not null,
    alias text,
    approval text,
    created_at bigint not null,
    primary key (agent_id, peer_id)
) /* sqlite: without rowid */;
create index connections_by_id on connections (connection_id);
create index connections_by_age on connections (agent_id, created_at, connection_id);
create unique index connections_by_alias on connections (agent_id, alias) where alias is not null;

create table blocks (
    agent_id text not null,
    blocked_id text not null,
    created_at bigint not null,
    primary key (agent_id, blocked_id)
) /* sqlite: without rowid */;

create table pairing_codes (
    code text primary key,
    agent_id text not null,
    expires_at bigint not null
) /* sqlite: without rowid */;
create index pairing_codes_by_end on pairing_codes (expires_at);
create index pairing_codes_of_agent on pairing_codes (agent_id);

create table used_challenges (
    challenge text primary key,
    expires_at bigint not null
) /* sqlite: without rowid */;
create index used_challenges_by_end on used_challenges (expires_at);

create table hub_secrets (
    name text primary key,
    value bytea not null
) /* sqlite: without rowid */;

-- How many live tasks two agents have between them; the lesser id stands first.
create table pairs (
    low_id text not null,
    high_id text not null,
    live_tasks bigint not null,
    primary key (low_id, high_id)
) /* sqlite: without rowid */;

create table tasks (
    id text primary key,
    initiator_id text not null,
    target_id text not null,
    title text not null,
    search_title text not null,
    description text,
    status text not null,
    status_reason text,
    approval text,
    requires_review bigint not null,
    priority text not null,
    attempt bigint not null,
    initiator_session_key text,
    target_session_key text,
    initiator_unread bigint not null,
    target_unread bigint not null,
    message_count bigint not null,
    log_count bigint not null,
    version bigint not null,
    queued_at bigint,
    started_at bigint,
    completed_at bigint,
    created_at bigint not null,
    updated_at bigint not null
);
-- Every index by agent costs a page of its own with each new task, so there are as few as lists need.
create index tasks_of_initiator on tasks (initiator_id, status, created_at, id);
create index tasks_of_target on tasks (target_id, status, created_at, id);
create index tasks_held on tasks (target_id, created_at, id) where approval = 'pending' and status = 'submitted';

create table task_log (
    task_id text not null,
    number bigint not null,
    from_status text,
    to_status text not null,
    actor text not null,
    detail text,
    attempt bigint not null,
    created_at bigint not null,
    primary key (task_id, number)
) /* sqlite: without rowid */;

create table messages (
    id text primary key,
    task_id text not null,
    number bigint not null,
    sender_id text,
    kind text not null,
    content text not null,
    content_type text not null,
    deleted bigint not null,
    read_at bigint,
    acknowledged_at bigint,
    created_at bigint not null
);
create unique index messages_of_task on messages (task_id, number);

create table idempotency (
    agent_id text not null,
    key text not null,
    request_hash bytea not null,
    status bigint not null,
    body text not null,
    created_at bigint not null,
    primary key (agent_id, key)
) /* sqlite: without rowid */;
create index idempotency_by_age on idempotency (created_at);

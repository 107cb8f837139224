-- Webhooks: the event log is the queue. An agent's cursor tells how far its log has been turned into
-- deliveries; each delivery is tried by itself. One worker at a time has an agent, by a lease.

alter table agents add column webhook_url text;
alter table agents add column webhook_secret text;
alter table agents add column webhook_events text not null default '';
alter table agents add column webhook_active bigint not null default 0;
alter table agents add column webhook_failing_since bigint;
alter table agents add column webhook_cursor bigint not null default 0;
alter table agents add column webhook_next_at bigint;
alter table agents add column webhook_lease_until bigint not null default 0;
create index agents_with_webhook on agents (id) where webhook_active = 1;
create index agents_with_due_webhook on agents (webhook_next_at, id) where webhook_next_at is not null;

create table deliveries (
    id text primary key,
    agent_id text not null,
    event_seq bigint,
    event_type text not null,
    url text not null,
    body text not null,
    state text not null,
    attempts bigint not null,
    next_at bigint,
    answered_at bigint,
    answer_status bigint,
    answer text,
    error text,
    took_ms bigint,
    created_at bigint not null
);
create index deliveries_due on deliveries (agent_id, next_at, id) where state = 'pending';
create index deliveries_of_agent on deliveries (agent_id, created_at, id);

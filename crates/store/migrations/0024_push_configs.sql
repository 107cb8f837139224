-- Where clients of A2A have what happens to their tasks pushed to. `steps` repeats how many steps the task has taken, and
-- `pushed` is the last one that was pushed: both numbers are in one row, so whoever writes it last leaves the right
-- `next_at`, which is null while there is nothing to push.

create table push_configs (
    task_id text not null,
    id text not null,
    owner_id text not null,
    host_id text not null,
    url text not null,
    token text,
    scheme text,
    credentials text,
    extension bigint not null,
    base text not null,
    set_at bigint not null,
    steps bigint not null,
    pushed bigint not null,
    attempts bigint not null default 0,
    failing_since bigint,
    pace bigint not null default 1,
    next_at bigint,
    lease_until bigint not null default 0,
    lease_holder text not null default '',
    primary key (task_id, id)
) /* sqlite: without rowid */;
-- postgres: alter table push_configs alter column task_id type text collate "C";
create index push_configs_due on push_configs (next_at, task_id, id) where next_at is not null;
create index push_configs_of_owner on push_configs (owner_id, host_id);

-- A push, among the deliveries of its client: of which task.
alter table deliveries add column task_id text;

-- Acknowledgements, deadlines, leases and budgets of tasks; parents, inboxes and networks.

alter table tasks add column acknowledged_at bigint;
alter table tasks add column ttl_seconds bigint;
alter table tasks add column expires_at bigint;
alter table tasks add column check_in_seconds bigint not null default 0;
alter table tasks add column lease_seconds bigint;
alter table tasks add column lease_until bigint;
alter table tasks add column on_stall text not null default 'notify';
alter table tasks add column max_attempts bigint not null default 3;
alter table tasks add column max_messages bigint not null default 200;
alter table tasks add column spoken_count bigint not null default 0;
alter table tasks add column parent_id text;
alter table tasks add column parent_shared bigint not null default 0;
alter table tasks add column network_id text;
alter table tasks add column result text;
alter table tasks add column progress bigint;
alter table tasks add column progress_note text;

-- What each party has written, read and acknowledged, as numbers of messages.
alter table tasks add column initiator_unread_since bigint;
alter table tasks add column initiator_said bigint not null default 0;
alter table tasks add column initiator_read bigint not null default 0;
alter table tasks add column initiator_acked bigint not null default 0;
alter table tasks add column target_unread_since bigint;
alter table tasks add column target_said bigint not null default 0;
alter table tasks add column target_read bigint not null default 0;
alter table tasks add column target_acked bigint not null default 0;

-- The order in which tasks wait for their target: 0 to 2 by priority, 3 to 5 the same at its gate. Tasks
-- that do not wait are all in lane 0.
alter table tasks add column rank bigint not null default 1;
alter table tasks add column lane bigint not null default 0;
update tasks set rank = case priority when 'high' then 0 when 'low' then 2 else 1 end;
update tasks set lane = rank + case when approval = 'pending' then 3 else 0 end where status = 'submitted';
drop index tasks_of_target;
drop index tasks_held;
create index tasks_of_target on tasks (target_id, status, lane, created_at, id);
create index tasks_of_parent on tasks (parent_id, created_at, id) where parent_id is not null;
create index tasks_unread_by_initiator on tasks (initiator_id, rank, initiator_unread_since, id)
    where initiator_unread_since is not null;
create index tasks_unread_by_target on tasks (target_id, rank, target_unread_since, id)
    where target_unread_since is not null;

-- What has to be looked at when its time comes. A row may have lost its meaning by then; whoever handles
-- it asks the task. In the order of time, so that waiting costs nothing and new rows share a page.
create table deadlines (
    due_at bigint not null,
    task_id text not null,
    kind text not null,
    number bigint not null,
    attempt bigint not null,
    lease_until bigint not null,
    primary key (due_at, task_id, kind, number)
) /* sqlite: without rowid */;

create table networks (
    id text primary key,
    name text not null,
    description text,
    owner_id text not null,
    member_count bigint not null,
    message_count bigint not null,
    created_at bigint not null
);

create table network_members (
    network_id text not null,
    agent_id text not null,
    joined_at bigint not null,
    primary key (network_id, agent_id)
) /* sqlite: without rowid */;
create index networks_of_agent on network_members (agent_id, joined_at, network_id);
create index members_by_age on network_members (network_id, joined_at, agent_id);

create table network_invites (
    code text primary key,
    network_id text not null,
    uses_left bigint not null,
    expires_at bigint not null
) /* sqlite: without rowid */;
create index network_invites_of_network on network_invites (network_id);
create index network_invites_by_end on network_invites (expires_at);

create table network_messages (
    id text primary key,
    network_id text not null,
    number bigint not null,
    sender_id text not null,
    content text not null,
    recipients bigint not null,
    created_at bigint not null
);
create unique index messages_of_network on network_messages (network_id, number);
create index events_of_broadcasts on events (agent_id, seq) where type = 'broadcast.created';

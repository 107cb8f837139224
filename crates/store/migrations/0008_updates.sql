-- What GET /updates shows is kept with the tasks: for each side how many of its unread messages came after what the agent
-- has acknowledged of its updates, and the numbers of the first and the last of them in its event log.
alter table messages add column event_seq bigint;
alter table tasks add column initiator_unseen bigint not null default 0;
alter table tasks add column initiator_unseen_first bigint;
alter table tasks add column initiator_unseen_last bigint;
alter table tasks add column target_unseen bigint not null default 0;
alter table tasks add column target_unseen_first bigint;
alter table tasks add column target_unseen_last bigint;

-- Messages that were written before the task was given to its present target came with the event that handed it over.
update messages set event_seq = coalesce(
    (select max(e.seq) from events e where e.task_id = messages.task_id and e.message_id = messages.id
         and e.type = 'message.created'),
    (select max(e.seq) from tasks t join events e on e.task_id = t.id and e.agent_id = t.target_id
         where t.id = messages.task_id and t.initiator_id = messages.sender_id
         and e.type in ('task.created', 'task.approval_required')))
where read_at is null and deleted = 0 and sender_id is not null;

update tasks set
    initiator_unseen = (select count(*) from messages m join mailboxes b on b.agent_id = tasks.initiator_id
        where m.task_id = tasks.id and m.sender_id <> tasks.initiator_id and m.read_at is null and m.deleted = 0
            and m.event_seq > b.updates_acked),
    initiator_unseen_first = (select min(m.event_seq) from messages m join mailboxes b on b.agent_id = tasks.initiator_id
        where m.task_id = tasks.id and m.sender_id <> tasks.initiator_id and m.read_at is null and m.deleted = 0
            and m.event_seq > b.updates_acked),
    initiator_unseen_last = (select max(m.event_seq) from messages m join mailboxes b on b.agent_id = tasks.initiator_id
        where m.task_id = tasks.id and m.sender_id <> tasks.initiator_id and m.read_at is null and m.deleted = 0
            and m.event_seq > b.updates_acked)
where initiator_unread_since is not null;

update tasks set
    target_unseen = (select count(*) from messages m join mailboxes b on b.agent_id = tasks.target_id
        where m.task_id = tasks.id and m.sender_id = tasks.initiator_id and m.read_at is null and m.deleted = 0
            and m.event_seq > b.updates_acked),
    target_unseen_first = (select min(m.event_seq) from messages m join mailboxes b on b.agent_id = tasks.target_id
        where m.task_id = tasks.id and m.sender_id = tasks.initiator_id and m.read_at is null and m.deleted = 0
            and m.event_seq > b.updates_acked),
    target_unseen_last = (select max(m.event_seq) from messages m join mailboxes b on b.agent_id = tasks.target_id
        where m.task_id = tasks.id and m.sender_id = tasks.initiator_id and m.read_at is null and m.deleted = 0
            and m.event_seq > b.updates_acked)
where target_unread_since is not null;

create index tasks_unseen_by_initiator on tasks (initiator_id, initiator_unseen_first)
    where initiator_unseen_first is not null;
create index tasks_unseen_by_target on tasks (target_id, target_unseen_first) where target_unseen_first is not null;

-- A deleted account could still join a network; broadcasts to that network failed from then on.
delete from network_members where not exists (select 1 from agents a where a.id = network_members.agent_id);
update networks set member_count = (select count(*) from network_members m where m.network_id = networks.id);

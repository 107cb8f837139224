-- An id may be taken again once its task is deleted. A deadline tells when its task was made, so that it means nothing
-- to another one; those that were set before this tell nothing and hold for any.
alter table deadlines add column task_made_at bigint;

-- Who had a task before it was given to another, and wrote something there: it goes with its account.
create table former_targets (
    agent_id text not null,
    task_id text not null,
    primary key (agent_id, task_id)
) /* sqlite: without rowid */;
create index former_targets_of_task on former_targets (task_id);

-- By which an agent that goes finds its pairs.
create index pairs_of_high on pairs (high_id);

-- With all that is asked of it, or SQLite would rather go through the whole log.
drop index events_of_broadcasts;
create index events_of_broadcasts on events (agent_id, seq, message_id, created_at) where type = 'broadcast.created';

-- Ids of tasks may come from clients, in mixed case. SQLite orders them by their bytes and so do we; PostgreSQL would by
-- the language of the database.
-- postgres: alter table tasks alter column id type text collate "C";
-- postgres: alter table tasks alter column parent_id type text collate "C";
-- postgres: alter table task_log alter column task_id type text collate "C";
-- postgres: alter table messages alter column task_id type text collate "C";
-- postgres: alter table events alter column task_id type text collate "C";
-- postgres: alter table deadlines alter column task_id type text collate "C";
-- postgres: alter table signatures alter column task_id type text collate "C";
-- postgres: alter table files alter column task_id type text collate "C";
-- postgres: alter table former_targets alter column task_id type text collate "C";

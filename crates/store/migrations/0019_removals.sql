-- Tasks that are gone for everybody, but whose messages and events are still being removed.
create table removed_tasks (
    id text primary key
) /* sqlite: without rowid */;
-- postgres: alter table removed_tasks alter column id type text collate "C";

-- With the other party, so that a list of the tasks with one agent reads rows for its page only. No index more, because
-- each costs a page with every new task.
drop index tasks_of_initiator;
create index tasks_of_initiator on tasks (initiator_id, status, created_at, id, target_id);
drop index tasks_of_target;
create index tasks_of_target on tasks (target_id, status, lane, created_at, id, initiator_id);

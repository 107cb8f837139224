-- Ids that no new task may have: those that clients made, from their creation on, and those of deleted tasks. A page or an
-- agent that remembers a task by its id never meets another one under it. Ids that the hub makes are not looked up.
create table used_task_ids (
    id text primary key
) /* sqlite: without rowid */;
-- postgres: alter table used_task_ids alter column id type text collate "C";

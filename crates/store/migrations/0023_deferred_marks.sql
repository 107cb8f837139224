-- Acknowledgements of so many messages that their rows are marked afterwards, in batches. Until then this row says so.
create table deferred_marks (
    task_id text not null,
    for_target bigint not null,
    to_number bigint not null,
    after_number bigint not null,
    initiator_id text not null,
    marked_at bigint not null,
    primary key (task_id, for_target, to_number)
) /* sqlite: without rowid */;
-- postgres: alter table deferred_marks alter column task_id type text collate "C";

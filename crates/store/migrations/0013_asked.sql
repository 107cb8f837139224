-- What an agent has decided at its gate about the tasks of each sender. Only tasks that were held are in this index.
create index tasks_asked on tasks (target_id, initiator_id, approval) where approval is not null;

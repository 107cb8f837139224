-- How an agent can be reached, and how far a task has come on its way.

alter table agents add column last_seen_at bigint;
alter table tasks add column pushed_at bigint;
alter table tasks add column fetched_at bigint;

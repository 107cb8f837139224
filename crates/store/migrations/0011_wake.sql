-- The wake ladder: how programs that run for an agent say that they can wake it, and when that last worked. And the
-- moment at which a task was shown to the target's model, which is more than being pushed to a program.

alter table agents add column wake text not null default '';
alter table tasks add column surfaced_at bigint;
alter table tasks add column surfaced_by text;

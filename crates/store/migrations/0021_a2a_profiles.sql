-- Who finds an agent by A2A, what its card says that it can do, and when that last changed.
alter table agents add column a2a text not null default 'connected';
alter table agents add column skills text;
alter table agents add column profile_at bigint;
create index agents_public on agents (id) where a2a = 'public';

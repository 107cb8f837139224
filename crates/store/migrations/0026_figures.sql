-- Counts for the plots of the dashboard, by half hour: of an agent, or of the hub with an empty subject. Upkeep removes old
-- rows, so there are few of each subject.
create table figures (
    subject text not null,
    kind text not null,
    at bigint not null,
    value bigint not null,
    primary key (subject, kind, at)
) /* sqlite: without rowid */;
create index figures_of_agents_by_age on figures (at) where subject <> '';
create index figures_of_hub_by_age on figures (at) where subject = '';

-- When the request came to the gate. Decisions of older versions do not say.
alter table decisions add column asked_at bigint;

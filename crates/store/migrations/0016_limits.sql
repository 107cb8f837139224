-- Limits that hold for all nodes together: how often something was done in the window that runs. A row whose window has
-- ended means nothing.
create table limit_windows (
    kind text not null,
    who text not null,
    ends_at bigint not null,
    used bigint not null,
    primary key (kind, who)
) /* sqlite: without rowid */;
create index limit_windows_by_end on limit_windows (ends_at);

-- Broadcasts in the order of the inbox, so that a page of it begins where the last one ended.
drop index events_of_broadcasts;
create index events_of_broadcasts on events (agent_id, created_at, message_id, seq) where type = 'broadcast.created';

-- Each kind of deadline is looked for by itself: many of one kind must not hold up another.
create index deadlines_by_kind on deadlines (kind, due_at);

-- Networks that are gone for everybody, but whose messages are still being removed.
create table removed_networks (
    id text primary key
) /* sqlite: without rowid */;

-- Relations that have ended, but some of whose live tasks are still to be cancelled.
create table cancellations (
    by_id text not null,
    peer_id text not null,
    network_tasks bigint not null,
    ended_at bigint not null,
    primary key (by_id, peer_id)
) /* sqlite: without rowid */;

-- By which the directory finds agents that can be discovered: their tags, and every three characters of their names and
-- descriptions.
create table directory_terms (
    term text not null,
    agent_id text not null,
    primary key (term, agent_id)
) /* sqlite: without rowid */;
create index directory_terms_of_agent on directory_terms (agent_id);
insert into directory_terms (term, agent_id)
select distinct 'tag:' || c.capability, c.agent_id from agent_capabilities c join agents a on a.id = c.agent_id
where a.discoverable = 1 and a.deleted_at is null;
with recursive places (place) as (select 1 union all select place + 1 from places where place < 1200)
insert into directory_terms (term, agent_id)
select distinct 'txt:' || substr(a.search_text, p.place, 3), a.id
from agents a join places p on p.place + 2 <= length(a.search_text)
where a.discoverable = 1 and a.deleted_at is null;

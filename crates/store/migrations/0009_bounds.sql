-- Broadcasts in the order of the inbox, so that a page of it begins where the last one ended.
drop index events_of_broadcasts;
create index events_of_broadcasts on events (agent_id, created_at, message_id, seq) where type = 'broadcast.created';

-- Each kind of deadline is looked for by itself: many of one kind must not hold up another.
create index deadlines_by_kind on deadlines (kind, due_at);

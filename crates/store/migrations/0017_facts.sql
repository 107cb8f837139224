-- Which offer a code belongs to, so that its owner learns from an event that it was redeemed.
alter table pairing_codes add column pairing_id text;
-- The message of the same task that a message answers. Shown, never interpreted.
alter table messages add column in_reply_to text;
-- The name of an actor as it was then.
alter table task_log add column actor_name text;
-- Words of the target's owner for its own agent, given at the approval gate.
alter table tasks add column approval_note text;

-- Messages that were read before their events had numbers. Without a number they would look as if written on a draft.
update messages set event_seq = 0 where event_seq is null and sender_id is not null;

-- Keys that have ended. A key is never used twice, or whoever has an old one could register it again and receive what a
-- machine with that key sends.
create table ended_keys (
    key_hash bytea primary key,
    ended_at bigint not null
) /* sqlite: without rowid */;

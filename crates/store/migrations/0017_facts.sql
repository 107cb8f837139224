-- Which offer a code belongs to, so that its owner learns from an event that it was redeemed.
alter table pairing_codes add column pairing_id text;
-- The message of the same task that a message answers. Shown, never interpreted.
alter table messages add column in_reply_to text;
-- The name of an actor as it was then.
alter table task_log add column actor_name text;
-- Words of the target's owner for its own agent, given at the approval gate.
alter table tasks add column approval_note text;

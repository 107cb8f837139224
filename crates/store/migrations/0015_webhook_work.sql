-- The work list of webhooks: any node finds in the database which receivers have events to deliver.
--
-- `mailboxes.webhook_cursor` repeats how far an agent's log was turned into deliveries, and is null without an active
-- webhook; `agents.webhook_cursor` stays the one that counts. Both numbers of the comparison are in one row, so an
-- event that is written at the same moment cannot be missed, and the program that writes events needs to know nothing
-- of webhooks. The index has a row only for agents that are behind.

alter table mailboxes add column webhook_cursor bigint;
update mailboxes set webhook_cursor =
    (select a.webhook_cursor from agents a where a.id = mailboxes.agent_id and a.webhook_active = 1)
    where agent_id in (select a.id from agents a where a.webhook_active = 1);
-- sqlite: alter table mailboxes add column webhook_behind bigint
-- sqlite:     generated always as (case when last_seq > webhook_cursor then 1 end) virtual;
-- A stored column of PostgreSQL would rewrite the table, and transactions of other nodes that began before would find
-- it empty. A trigger needs no rewrite, and its condition fails for nearly every write. The index is on this column and
-- not on a comparison with last_seq, which would keep PostgreSQL from updating rows in place.
-- postgres: alter table mailboxes add column webhook_behind bigint;
-- postgres: update mailboxes set webhook_behind = 1 where last_seq > webhook_cursor;
-- postgres: create or replace function webhook_behind() returns trigger language plpgsql as $$
-- postgres: begin
-- postgres:     new.webhook_behind := case when new.last_seq > new.webhook_cursor then 1 end;
-- postgres:     return new;
-- postgres: end
-- postgres: $$;
-- postgres: create trigger webhook_behind before insert or update on mailboxes for each row
-- postgres:     when ((new.webhook_behind is null) = coalesce(new.last_seq > new.webhook_cursor, false))
-- postgres:     execute function webhook_behind();
create index mailboxes_behind on mailboxes (agent_id) where webhook_behind = 1;

-- How many deliveries the holder of the lease attempts, and how many were left without a result when the lease was
-- taken over.
alter table agents add column webhook_leased bigint not null default 0;
alter table agents add column webhook_interrupted bigint not null default 0;

-- How often a delivery was replayed: the result of an attempt that began before a replay does not count for it.
alter table deliveries add column replays bigint not null default 0;

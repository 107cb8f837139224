-- Who holds the lease on an agent's deliveries. A node that was killed and started again knows its own leases, and
-- does not wait for their end.

alter table agents add column webhook_lease_holder text not null default '';

-- The processes that share this database. Each renews its row; a row that is not renewed runs out.
create table nodes (
    id text primary key,
    -- Where other nodes reach it: host and port. Empty until it listens.
    advertise text not null,
    version text not null,
    -- How it hears of other nodes' commits: nats, none, or empty for a node that wants to be alone.
    bus text not null,
    -- Where it stores files: own, shared, or bucket: and its name. Nodes side by side have the same place.
    files text not null,
    started_at bigint not null,
    until bigint not null,
    -- Its counters as JSON, for the operator.
    figures text not null
);

-- Which agents are connected to which node, or have called it. A row holds while its node runs, and until its own end.
-- A row without a reach tells of a request only.
create table presences (
    agent_id text not null,
    node_id text not null,
    reach text,
    seen_at bigint not null,
    until bigint not null,
    primary key (agent_id, node_id)
) /* sqlite: without rowid */;
create index presences_of_node on presences (node_id, until);

-- People in a browser: the dashboard's sessions, who is signed in within one, and one-time links for the operator. Only
-- hashes of what a browser holds are stored.

-- A session has an id of its own, because whoever signs in gets a new token.
create table browser_sessions (
    hash bytea primary key,
    id text not null,
    created_at bigint not null,
    used_at bigint not null,
    expires_at bigint not null
);
create unique index browser_sessions_by_id on browser_sessions (id);
create index browser_sessions_by_end on browser_sessions (expires_at);

-- An agent whose key was entered, or the operator, who is written as 'admin'. The sign-in is valid as long as that key is.
create table sign_ins (
    session_id text not null,
    subject text not null,
    key_hash bytea not null,
    created_at bigint not null,
    primary key (session_id, subject)
);
create index sign_ins_of_subject on sign_ins (subject, created_at);

create table setup_codes (
    hash bytea primary key,
    expires_at bigint not null
);
create index setup_codes_by_end on setup_codes (expires_at);

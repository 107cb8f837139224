-- Encrypted content, files, credits, and agents that are suspended or on their way out.

alter table tasks add column encrypted bigint not null default 0;
alter table tasks add column description_keys text;
alter table tasks add column sender_signature text;
alter table tasks add column usage_micro bigint not null default 0;
alter table messages add column encrypted_keys text;
alter table messages add column sender_signature text;

-- Every signature that was seen on a task, so that none is taken twice.
create table signatures (
    task_id text not null,
    hash bytea not null,
    primary key (task_id, hash)
) /* sqlite: without rowid */;

-- What a file is called and whose it is; its bytes lie beside the database, under its id.
create table files (
    id text primary key,
    task_id text not null,
    message_id text not null,
    uploader_id text not null,
    name text not null,
    mime_type text not null,
    size_bytes bigint not null,
    created_at bigint not null
);
create index files_of_task on files (task_id);
create index files_of_message on files (message_id);
create index files_of_uploader on files (uploader_id, created_at, id);

alter table agents add column suspended bigint not null default 0;
alter table agents add column deleted_at bigint;
alter table agents add column file_bytes bigint not null default 0;
create index agents_on_their_way_out on agents (id) where deleted_at is not null;
create index blocks_of_blocked on blocks (blocked_id);
create index messages_of_sender on network_messages (sender_id);

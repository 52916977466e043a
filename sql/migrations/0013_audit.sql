-- Who did what that concerns the security of the service, for those who look for intruders later.

create table audit_record (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  kind text not null,
  user_id uuid,
  session_id uuid,
  key_id uuid,
  network text,
  request_id text,
  operator text,
  detail jsonb
);
create index on audit_record (at);
create index on audit_record (user_id, kind, at);
create index on audit_record (kind, at);
comment on table audit_record is
  'What happened to accounts, keys, releases and reference data. Rows are added, and removed when they are old; nothing changes one.';
comment on column audit_record.user_id is
  'The account that it is about, which may be deleted since: nothing here leads from the id to a name or an e-mail.';
comment on column audit_record.session_id is 'The login by which it was done.';
comment on column audit_record.key_id is 'The key by which it was done.';
comment on column audit_record.network is 'Where it came from: an IPv4 address, or the /64 of an IPv6 one. Null for operators.';
comment on column audit_record.operator is 'The user of the operating system who ran the program, where no request did it.';
comment on column audit_record.detail is 'What depends on the kind; never a password, a token, a key or a code.';

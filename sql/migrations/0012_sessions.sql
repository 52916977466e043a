-- Sessions that end by a flag and that their owner can see, keys with the role of an admin, and registrations that wait.

alter table session
  add column ended_at timestamptz,
  add column authenticated_at timestamptz not null default now(),
  add column last_used_at timestamptz not null default now(),
  add column network text,
  add column user_agent text,
  add column token_family bytea unique;
-- Nobody has given a password because the service was upgraded.
update session set authenticated_at = created_at, last_used_at = created_at where expires_at > now();
create index on session (user_id, created_at) where ended_at is null;
create index on session (expires_at) where ended_at is null;
create index on session (ended_at) where ended_at is not null;
comment on table session is
  'A login on one device: a family of refresh tokens, and the access tokens made with them. It ends by ended_at; the row is deleted later.';
comment on column session.authenticated_at is 'When the password was given last.';
comment on column session.last_used_at is 'When it was begun or continued last: access tokens are not counted.';
comment on column session.network is 'Where that came from: an IPv4 address, or the /64 of an IPv6 one.';
comment on column session.user_agent is 'How the client names itself, shortened.';
comment on column session.token_family is
  'SHA-256 of what all refresh tokens of the session begin with: one that is known by it alone was used long ago.';
comment on table refresh_token is
  'What a session is continued with, once each; used ones are kept for a minute, for clients that did not get the answer.';

alter table api_key drop constraint api_key_scopes_check;
alter table api_key add constraint api_key_scopes_check
  check (cardinality(scopes) > 0 and scopes <@ array['advisory', 'history', 'account', 'admin']);

create table pending_registration (
  id uuid primary key default gen_random_uuid(),
  token_hash bytea not null unique,
  email text not null,
  email_key text not null,
  password_hash text not null,
  name text not null,
  organisation text,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index on pending_registration (email_key, created_at);
create index on pending_registration (expires_at);
comment on table pending_registration is
  'What becomes an account when its e-mail is confirmed. There may be several of one e-mail, also where it has an account.';
comment on column pending_registration.id is 'The id of the account-to-be.';
comment on column pending_registration.token_hash is 'SHA-256 of the token of the mail, which is stored nowhere.';

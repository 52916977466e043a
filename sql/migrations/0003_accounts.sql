-- People with an account, how they prove who they are, and what slows down those who only guess.

create table app_user (
  id uuid primary key default gen_random_uuid(),
  email text not null,
  email_key text not null unique,
  password_hash text not null,
  name text not null,
  organisation text,
  role text not null default 'user' check (role in ('user', 'admin')),
  created_at timestamptz not null default now()
);
comment on table app_user is 'A person with an account. The id is random and public: access tokens carry it.';
comment on column app_user.email is 'As the person wrote it, trimmed and in Unicode NFC.';
comment on column app_user.email_key is 'The same without regard to case: two accounts cannot differ in case alone.';
comment on column app_user.password_hash is 'argon2id in PHC notation, with its parameters and salt.';

create table session (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references app_user on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index on session (user_id);
comment on table session is
  'A login on one device: a family of refresh tokens, and the access tokens made with them. Ending it deletes the row.';

create table refresh_token (
  hash bytea primary key,
  session_id uuid not null references session on delete cascade,
  expires_at timestamptz not null,
  used_at timestamptz,
  successor_salt bytea,
  check ((used_at is null) = (successor_salt is null))
);
create index on refresh_token (session_id);
comment on table refresh_token is 'What a session is continued with, once each; used ones are kept to notice a second use.';
comment on column refresh_token.hash is 'SHA-256 of the token, which is 32 random bytes and stored nowhere.';
comment on column refresh_token.successor_salt is
  'With the used token itself it gives its successor again, for a client that did not get the answer.';

create table api_key (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references app_user on delete cascade,
  name text not null,
  hint text not null,
  hash bytea not null unique,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  last_used_at timestamptz
);
create index on api_key (user_id);
comment on table api_key is 'A key that a server sends in the place of an access token.';
comment on column api_key.hint is 'The beginning of the key, for its owner to tell keys apart by.';
comment on column api_key.hash is 'SHA-256 of the key, which holds 32 random bytes and is stored nowhere.';
comment on column api_key.last_used_at is 'Accurate to a minute.';

create table auth_throttle (
  subject bytea primary key,
  failures integer not null,
  first_failure_at timestamptz not null,
  last_failure_at timestamptz not null,
  blocked_until timestamptz not null
);
create index on auth_throttle (last_failure_at);
comment on table auth_throttle is 'Who has lately failed to log in, and when they may try again.';
comment on column auth_throttle.subject is
  'SHA-256 of an address, or of an e-mail with the address it was tried from: not readable at a glance.';

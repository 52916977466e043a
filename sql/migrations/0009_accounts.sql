-- What a key may do, what made it and how much it is used; and what is sent by e-mail to whoever owns an address.

-- Keys of before could delete their account: like new ones they may so no longer, unless somebody says so.
alter table api_key
  add column scopes text[] not null default array['advisory', 'history']
    check (cardinality(scopes) > 0 and scopes <@ array['advisory', 'history', 'account']),
  add column parent_id uuid references api_key on delete cascade;
create index on api_key (parent_id);
comment on column api_key.scopes is 'What its holder may do in the place of its owner.';
comment on column api_key.parent_id is
  'The key that it was made with: it ends with that one. None where a session made it.';

create table api_key_usage (
  key_id uuid not null references api_key on delete cascade,
  day date not null,
  requests bigint not null,
  primary key (key_id, day)
) with (fillfactor = 70);
create index on api_key_usage (day);
comment on table api_key_usage is 'How many requests came with a key on a day (UTC).';

-- Nobody was asked to confirm before there was this column.
alter table app_user add column email_confirmed boolean not null default true;
comment on column app_user.email_confirmed is
  'Whether nothing has to be confirmed: false from a registration that asks for it until its token comes back.';

create table account_token (
  hash bytea primary key,
  user_id uuid not null references app_user on delete cascade,
  purpose text not null check (purpose in ('password_reset', 'email_confirmation')),
  expires_at timestamptz not null,
  unique (user_id, purpose)
);
comment on table account_token is
  'What proves that an e-mail is its reader''s, once: a newer token takes the place of the one before.';
comment on column account_token.hash is 'SHA-256 of the token, which is 32 random bytes and stored nowhere.';

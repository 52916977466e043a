-- The second factor of accounts that want one: codes of an authenticator app, and others for whoever has lost it.

create table two_factor (
  user_id uuid primary key references app_user on delete cascade,
  secret bytea not null,
  begun_at timestamptz not null default now(),
  confirmed_at timestamptz,
  last_step bigint not null default 0
);
comment on table two_factor is 'A secret that an account shares with the app of its owner (TOTP, RFC 6238).';
comment on column two_factor.secret is 'Encrypted with a key that is made of a secret outside of the database.';
comment on column two_factor.begun_at is 'Since when it is set up, for which its owner has an hour.';
comment on column two_factor.confirmed_at is 'When its owner showed the first code; until then a login needs none.';
comment on column two_factor.last_step is 'The step of the last code that was taken: none works twice, and none from before it.';

create table recovery_code (
  user_id uuid not null references two_factor on delete cascade,
  hash bytea not null,
  primary key (user_id, hash)
);
comment on table recovery_code is 'What lets the owner of a lost app in, each once: a used one is deleted.';
comment on column recovery_code.hash is 'SHA-256 of the code, which has 80 random bits and is stored nowhere.';

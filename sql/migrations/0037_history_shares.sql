-- What somebody was answered may be shown to everybody who knows its address.

create table history_share (
  history_id uuid primary key,
  user_id uuid not null references app_user on delete cascade,
  token text not null unique check (token ~ '^[A-Za-z0-9_-]{24}$'),
  shared_at timestamptz not null default now()
);
create index on history_share (user_id);
comment on table history_share is
  'Items of histories that their owners have shared. A row is of use as long as the item and the account are there.';
comment on column history_share.token is
  'The end of its address: 144 random bits. It is kept as it is, since its owner is shown it again, and it opens nothing but what lies beside it.';

-- Who is told when what is answered at a place changes, and what is on its way to them.

create table subscription (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references app_user on delete cascade,
  created_at timestamptz not null default now(),
  name text not null,
  product text not null,
  country_code text not null,
  crop_code text,
  forecast_period date,
  place jsonb not null,
  input text,
  scenario text,
  threshold_kind text not null check (threshold_kind in ('absolute', 'relative')),
  threshold double precision not null check (threshold >= 0),
  url text not null,
  host text not null,
  secret bytea not null,
  previous_secret bytea,
  previous_until timestamptz,
  release text,
  told jsonb not null,
  leased_until timestamptz,
  failing_since timestamptz,
  delivered_at timestamptz,
  disabled_at timestamptz,
  disabled_reason text check (disabled_reason in ('gone', 'failing', 'secret_lost')),
  check ((disabled_at is null) = (disabled_reason is null)),
  check ((previous_secret is null) = (previous_until is null))
);
create index on subscription (user_id);
create index on subscription (product, country_code, crop_code, forecast_period, release)
  where disabled_at is null;
comment on table subscription is 'Who is told of which changes of the values at a place.';
comment on column subscription.place is 'A point, a polygon or an area, as it was asked for.';
comment on column subscription.host is 'That of the URL: one that is slow holds up its own deliveries alone.';
comment on column subscription.secret is 'Encrypted with a key that is made of a secret outside of the database.';
comment on column subscription.previous_secret is 'What it was before it was renewed, which signs as well for a while.';
comment on column subscription.release is
  'The code of the release that it was last compared with: where another answers, it is compared anew.';
comment on column subscription.told is 'The values that were told last.';
comment on column subscription.leased_until is 'Until when a process has it to compare; after that, another may.';

create table webhook_delivery (
  id uuid primary key default gen_random_uuid(),
  subscription_id uuid not null references subscription on delete cascade,
  created_at timestamptz not null default now(),
  body text not null,
  due_at timestamptz not null default now(),
  attempts integer not null default 0,
  leased_until timestamptz,
  done_at timestamptz,
  delivered boolean,
  check ((done_at is null) = (delivered is null))
);
create index on webhook_delivery (subscription_id, created_at);
create index on webhook_delivery (due_at) where done_at is null;
create index on webhook_delivery (done_at) where done_at is not null;
comment on table webhook_delivery is 'What is sent to subscribers: until it has arrived, or is given up after a day.';
comment on column webhook_delivery.id is 'What its receiver knows it by, at each attempt.';
comment on column webhook_delivery.due_at is 'When it is tried next.';
comment on column webhook_delivery.leased_until is 'Until when a process tries to deliver it; after that, another may.';
comment on column webhook_delivery.delivered is 'Whether it has arrived; null while it is on its way.';

-- What callers with a token were answered, what they say of it, and how much the service is used.

create table advisory_history (
  id uuid primary key,
  user_id uuid not null references app_user on delete cascade,
  created_at timestamptz not null,
  kind text not null check (kind in ('point', 'polygon')),
  product text not null check (product in ('yield', 'fertilizer', 'isfm', 'forage', 'all')),
  country_code text not null,
  crop_code text,
  releases text[] not null,
  request json not null,
  answer json not null,
  bytes integer not null
);
-- A page of a history reads one of these from where the page before ended, however deep that is.
create index on advisory_history (user_id, created_at, id);
create index on advisory_history (user_id, product, created_at, id);
create index on advisory_history (user_id, country_code, created_at, id);
comment on table advisory_history is
  'Advisories that callers with a token were given, as they were given: nothing in it refers to a release or a country that may change or go.';
comment on column advisory_history.product is 'all where one call answered for every product.';
comment on column advisory_history.crop_code is 'None for forage.';
comment on column advisory_history.releases is 'The codes of the releases that answered.';
comment on column advisory_history.answer is 'json, not jsonb: the bytes stay as they were.';
comment on column advisory_history.bytes is 'Length of request and answer: how large it is in an answer.';

create table advisory_feedback (
  history_id uuid primary key references advisory_history on delete cascade,
  user_id uuid not null references app_user on delete cascade,
  rating integer not null check (rating between 1 and 5),
  comment text,
  yield_kg_ha double precision,
  rate_kg_ha double precision,
  rate_tons_ha double precision,
  harvested_on date,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index on advisory_feedback (user_id, created_at);
comment on table advisory_feedback is 'What a caller says of an advisory in the own history: at most one each.';
comment on column advisory_feedback.yield_kg_ha is 'What was harvested, as the caller observed it.';
comment on column advisory_feedback.rate_kg_ha is 'Inorganic fertilizer that was applied.';
comment on column advisory_feedback.rate_tons_ha is 'Organic input that was applied.';
comment on column advisory_feedback.created_at is 'When it was first given; updated_at is when it was last replaced.';

create table user_usage (
  user_id uuid not null references app_user on delete cascade,
  day date not null,
  product text not null,
  country_code text not null,
  crop_code text,
  advisories bigint not null,
  unique nulls not distinct (user_id, day, product, country_code, crop_code)
) with (fillfactor = 70);
create index on user_usage (day);
comment on table user_usage is
  'How many advisories a user was given on a day (UTC). They stay when items of the history are deleted.';

create table request_count (
  day date not null,
  operation text not null,
  status integer not null,
  code text not null,
  requests bigint not null,
  total_ms double precision not null,
  max_ms double precision not null,
  buckets bigint[] not null,
  primary key (day, operation, status, code)
);
comment on table request_count is
  'How many requests were answered on a day (UTC), how and how fast: a row for each operation and outcome of a day. Nothing of who asked.';
comment on column request_count.operation is 'The operationId of the OpenAPI document, or what else was asked for.';
comment on column request_count.code is 'The code of an error; empty for a success.';
comment on column request_count.buckets is 'Requests by duration: the first bucket ends at 0.1 ms, each other one 2^(1/4) times as late as the one before.';

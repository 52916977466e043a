-- What was answered to requests with an Idempotency-Key, so that one that is sent again is answered the same.

create table idempotency_record (
  id bytea primary key,
  user_id uuid references app_user on delete cascade,
  attempt uuid not null,
  begun_at timestamptz not null default now(),
  answer bytea
);
create index on idempotency_record (user_id, begun_at);
create index on idempotency_record (begun_at);
comment on table idempotency_record is
  'Requests that named themselves, for a day: who sends one again is given its answer, and nothing is done twice.';
comment on column idempotency_record.id is
  'HMAC of the operation, the account and the key that the client chose, which is stored nowhere.';
comment on column idempotency_record.user_id is 'Null while the request is making the account.';
comment on column idempotency_record.attempt is 'Which attempt at the request is the present one: only that may store an answer.';
comment on column idempotency_record.answer is
  'Encrypted with a key that is made of the client''s and of a secret outside of the database; null while there is none yet.';

-- Text messages that doors for SMS, USSD and Telegram have answered.

create table message (
  id bytea primary key,
  sender bytea not null,
  arrived_at timestamptz not null default now(),
  begun_at timestamptz not null default now(),
  reply text,
  offer jsonb,
  stopped boolean not null default false,
  code text,
  releases text[],
  answer json,
  rating integer check (rating between 1 and 5),
  observed jsonb,
  told_at timestamptz
);
create index on message (sender, arrived_at);
create index on message (arrived_at) where code is null and not stopped;
create index on message (arrived_at) where code is not null;
create index on message (arrived_at) where offer is not null;
create index on message using gin (releases) where told_at is not null;
comment on table message is
  'Messages without an account. An answer with a code stays, so that its feedback can be told; other rows go within days.';
comment on column message.id is 'A keyed hash of door, sender and the id of the gateway: a repetition gets the same reply.';
comment on column message.sender is 'A keyed hash of the number or the chat; the key is a setting, and not in the database.';
comment on column message.begun_at is 'When its work began last: a process may have died.';
comment on column message.reply is 'Null while the work goes on.';
comment on column message.offer is 'The choices, the rest of the answer and the subject that the next message may refer to.';
comment on column message.stopped is 'Whether the sender has sent STOP: until START nothing is answered.';
comment on column message.code is 'What feedback names the answer by. Codes of a sender repeat: the newest counts.';
comment on column message.answer is 'The body, in the form of the history.';
comment on column message.observed is 'What the sender has harvested, in the form of advisory_feedback.';

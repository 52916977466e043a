-- A STOP of a number that nothing else is known of ends with other messages: nobody can fill the table for good with such.

alter table message add column of_stranger boolean not null default false;
comment on column message.of_stranger is
  'Whether it is a STOP that came without any other message of its sender: it goes within days, as other rows do.';
create index on message (arrived_at) where code is null and (not stopped or of_stranger);
drop index message_arrived_at_idx;

-- An attempt that ends at once is no turn.
comment on column subscription.tried_at is
  'The last turn at deliveries: attempts move it towards their end, those of a second or more as far as that.';

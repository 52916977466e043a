-- replaces: 0055_strangers_and_turns.sql d85fc6fd04a4bb096820281c20fbb01fb6d23a0a0a18c255f91707b05fab1dd7
-- A STOP of a number that nothing else is known of ends with other messages: nobody can fill the table for good with such.

alter table message add column of_stranger boolean not null default false;
comment on column message.of_stranger is
  'Whether it is a STOP that came without any other message of its sender: it goes within days, as other rows do.';
create index on message (arrived_at) where code is null and (not stopped or of_stranger);
drop index message_arrived_at_idx;

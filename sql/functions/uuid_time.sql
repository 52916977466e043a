-- PostgreSQL knows it by itself from version 17 on.
create or replace function uuid_time(id uuid) returns timestamptz
language sql immutable strict parallel safe
as $$
  select to_timestamp(('x' || left(encode(uuid_send(id), 'hex'), 12))::bit(48)::bigint / 1000.0)
$$;

comment on function uuid_time(uuid) is 'When a UUID of version 7 was made.';

-- Before 1970 there are none: the first of all is theirs.
create or replace function uuid_at(moment timestamptz) returns uuid
language sql immutable strict parallel safe
as $$
  select rpad(lpad(to_hex(floor(greatest(extract(epoch from moment), 0) * 1000)::bigint), 12, '0'), 32, '0')::uuid
$$;

comment on function uuid_at(timestamptz) is
  'Where UUIDs of version 7 that are made from a moment on begin: all of them are greater.';

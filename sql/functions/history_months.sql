create or replace function history_months() returns table (partition text, ends uuid)
language sql stable
as $$
  select
    relname::text,
    (regexp_match(pg_get_expr(relpartbound, pg_class.oid), 'TO \(''([0-9a-f-]+)''\)'))[1]::uuid
  from pg_inherits join pg_class on pg_class.oid = inhrelid
  where inhparent = 'history_item'::regclass
$$;

comment on function history_months() is
  'The partitions of history_item, and before which id each ends. The first begins with the first of all ids.';

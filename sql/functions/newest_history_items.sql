-- A function, because of its setting, and because its plans are kept: with 30 months, planning takes as long as reading a
-- page. An account may have a million times as many items as others, which the planner does not know of: it would rather
-- read all of them and sort them than some of them in the order of the index.
create or replace function newest_history_items(
  account uuid, subjects smallint[], since uuid, before uuid, most integer
) returns table (id uuid, bytes integer)
language plpgsql stable rows 100 set enable_sort = off
as $$
#variable_conflict use_column
begin
  if subjects is null then
    return query
      select id, bytes from history_item
      where user_id = account and id >= since and id < before
      order by id desc
      limit most;
  else
    -- Each subject has an order of its own in the index. Pairs and their order let no other index serve: in that of the
    -- account, all its items would be read for a subject that none of them has. Bounds of ids alone choose the months.
    return query
      select item.id, item.bytes
      from unnest(subjects) as subject (id)
      cross join lateral (
        select id, bytes from history_item
        where
          user_id = account
          and (subject_id, id) >= (subject.id, since) and (subject_id, id) < (subject.id, before)
          and id >= since and id < before
        order by subject_id desc, id desc
        limit most
      ) as item;
  end if;
end
$$;

comment on function newest_history_items is
  'The newest items of an account with ids between two, the first included: so many of each of some subjects, which the newest of all of these are among, or so many in all where subjects are null.';

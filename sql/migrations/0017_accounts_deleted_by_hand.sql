-- Accounts that an operator has deleted by a statement since 0015: rows of theirs are left that nobody removes.
-- From now on a trigger sees to it.

insert into account_removal (user_id)
select user_id from (select user_id from history_size union select user_id from session) as known
where not exists (select from app_user where app_user.id = known.user_id)
on conflict do nothing;

create or replace function account_removal_ends() returns trigger
language plpgsql
as $$
begin
  -- A process of a version before leaves them: it knows of a constraint that took them along.
  delete from user_usage where user_id = old.user_id;
  return null;
end
$$;

comment on function account_removal_ends() is
  'Removes what is left of the counts of an account whose removal has ended, whichever version has done it.';

create or replace trigger removal_ends after delete on account_removal
  for each row execute function account_removal_ends();

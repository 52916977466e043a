-- The one way by which audit records go. It is called again until it removes nothing: each call is short. With its
-- owner's rights, so that the role of the service needs none to delete them.
create or replace function delete_old_audit_records(kept_months integer, most integer) returns integer
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
  deleted integer;
begin
  -- Said here and not with the function: that takes a superuser.
  perform set_config('agro.audit_retention', 'on', true);
  delete from audit_record
  where id in (
    select id from audit_record
    where at < now() - make_interval(months => kept_months)
    order by at
    limit most
  );
  get diagnostics deleted = row_count;
  perform set_config('agro.audit_retention', 'off', true);
  return deleted;
end
$$;

comment on function delete_old_audit_records(integer, integer) is
  'Removes some of the audit records that are older than so many months; returns how many.';

revoke execute on function delete_old_audit_records(integer, integer) from public;

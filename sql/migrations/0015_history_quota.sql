-- How much the history of an account holds, so that there can be an end to it; and accounts that are gone while
-- rows of theirs are still to be removed: a million rows are not deleted while somebody waits.

create table history_size (
  user_id uuid primary key,
  items bigint not null,
  bytes bigint not null
) with (fillfactor = 70);
comment on table history_size is
  'How much the history of an account holds. The function history_size_in_step counts; old items go by it.';
comment on column history_size.bytes is 'Of requests and answers, as advisory_history.bytes has them.';

-- Nobody writes between the counting and the trigger that counts from then on.
lock table advisory_history in share row exclusive mode;
insert into history_size (user_id, items, bytes)
select user_id, count(*), sum(bytes) from advisory_history group by user_id;

create table account_removal (
  user_id uuid primary key,
  removed_at timestamptz not null default now()
);
comment on table account_removal is
  'Accounts that are gone for everybody, and of which rows of the history and of sessions are still to be removed.';

-- These tables have as many rows of an account as it likes. What still cascades is bounded: keys and their usage,
-- tokens of mails, requests with an Idempotency-Key, counts by day.
alter table advisory_feedback drop constraint advisory_feedback_user_id_fkey;
alter table advisory_history drop constraint advisory_history_user_id_fkey;
alter table session drop constraint session_user_id_fkey;

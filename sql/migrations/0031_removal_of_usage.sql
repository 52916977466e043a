-- Feedback to everybody's items is counted by the days on which it was given. First, since nobody is kept waiting for it.
create index on advisory_feedback (created_at) include (rating, user_id);

-- Of an account that is deleted, counts by day go in the background, too: they are spread over as many pages as there are
-- days and subjects, and whoever deletes the account would wait for all of them. Statistics leave them out meanwhile.
alter table user_usage drop constraint user_usage_user_id_fkey;

-- What is removed leaves its places in an index behind, which would be passed by again for each piece.
alter table account_removal
  add column through uuid not null default '00000000-0000-0000-0000-000000000000';
comment on column account_removal.through is
  'Through which item of history_item, in the order of their ids, the history is removed.';

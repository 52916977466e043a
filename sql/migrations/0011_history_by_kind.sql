-- A page of only the points or only the polygons of a history is read in the same way as any other: from
-- where the page before ended.

create index on advisory_history (user_id, kind, created_at, id);

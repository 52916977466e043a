-- All collections of an account count while one of them grows: kept, replaced and arriving ones.

create index on field_collection (user_id);

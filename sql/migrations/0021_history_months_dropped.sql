-- A month of histories that is over is dropped as a whole. Before that, what it held is counted away by pieces.

create table history_item_going (like history_item including defaults including constraints including indexes);
comment on table history_item_going is
  'Items of a month that nobody finds any more. Its table inherits from this one from when it has left history_item until it is dropped; what is in this one itself was imported.';

create table history_removal (
  user_id uuid not null,
  id uuid not null
);
comment on table history_removal is
  'Through which item of history_item_going, in the order of its key, histories are counted without them and feedback to them is deleted. It has one row.';
insert into history_removal (user_id, id)
values ('00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000');

-- A new process no longer reads tiles before its first request. Older versions only log that they miss the table.
drop table tile_use;

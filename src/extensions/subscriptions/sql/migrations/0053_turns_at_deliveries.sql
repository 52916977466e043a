-- Accounts take turns at deliveries: the one whose last turn is the longest ago is next.

alter table subscription add column tried_at timestamptz;
comment on column subscription.tried_at is 'When a process last began to deliver something of it.';

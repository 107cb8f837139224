//! Tests that need the store's own SQL. What can be seen from outside is tested from outside.

mod agents;
mod groups;
mod lists;
mod place;
mod remotes;
mod sql;
mod tables;
mod tasks;

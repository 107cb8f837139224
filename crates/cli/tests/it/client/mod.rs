//! The client library, against a hub of the test.

mod sealed;

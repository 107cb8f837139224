//! The commands of the binary, run as a user runs them.

mod ops;

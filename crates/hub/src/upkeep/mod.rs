//! Work that no caller waits for: deadlines, removal of old rows, figures, backup. All of it goes on by itself while the
//! hub runs.

pub(crate) mod accounts;
pub mod backup;
pub(crate) mod disk_space;
pub mod gc;
pub(crate) mod housekeeping;
pub mod metrics;
pub mod plot_counts;
pub(crate) mod timer;
pub(crate) mod totals;

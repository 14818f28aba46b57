//! Allocators that place a job on one block of a grid.

mod held;
pub mod boundary;
pub mod first_fit;
pub mod best_fit;
pub mod frame_sliding;
pub mod buddy_2d;
pub mod busy_list;
pub mod turning_busy_list;
pub mod quick_allocation;
pub mod adaptive_scan;

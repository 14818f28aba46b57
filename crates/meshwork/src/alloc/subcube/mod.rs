//! Strategies that give subcubes of a hypercube; `lists`, free subcubes by dimension, is what several share.

mod lists;
pub mod buddy;
pub mod modified_buddy;
pub mod gray_code;
pub mod multiple_gray_code;
pub mod free_list;
pub mod maximal_subcubes;
pub mod tree_collapsing;
pub mod prime_cube_graph;
pub mod noncubic;

pub use lists::CubeLists;

//! Allocators whose placements may consist of several separate blocks.

mod nearest;
pub mod naive;
pub mod random;
pub mod paging;
pub mod multiple_buddy;
pub mod multiple_partner;
pub mod adaptive_noncontiguous;
pub mod greedy_available;
pub mod curve;
pub mod mc1x1;
pub mod mm;
pub mod gen_alg;

const LO: &str = "Lo, Windisch, Liu & Nitzberg, Noncontiguous processor allocation algorithms for \
                  mesh-connected multicomputers, TPDS 8(7), 1997";

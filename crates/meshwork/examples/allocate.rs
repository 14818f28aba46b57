//! Uses an allocator without a simulation. Requests are read from text, and their nodes are granted
//! and released.
#![allow(clippy::print_stdout, reason = "an example prints")]

use meshwork::{Pool, Request};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut pool = Pool::builder().mesh([8, 8]).allocator("first_fit").build()?;
    for text in ["3x5", "4x4", "8x6"] {
        let request: Request = text.parse()?;
        match pool.allocate(&request) {
            Some(placement) => println!("{text}: {placement:?}"),
            None => println!("{text}: no free block, with {} nodes free", pool.site().free_nodes()),
        }
    }
    Ok(())
}

//! An allocator alone: requests read from text, granted and released without a simulation.
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

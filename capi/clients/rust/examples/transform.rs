// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
//! Milliseconds that 4,096 features of rows of 64 take, the least of so many calls, for bench/clients.py.
//! Run: cargo run --release --example transform ROWS CALLS
use mercer::{Map, Result, Rows};
use std::time::Instant;

fn main() -> Result<()> {
    let arguments: Vec<usize> = std::env::args().skip(1).map(|word| word.parse().expect("a number")).collect();
    let (n, calls) = (arguments[0], arguments[1]);
    let x: Vec<f32> = (0..n * 64).map(|i| (i * 7919 % 1024) as f32 / 512.0 - 1.0).collect();
    let mut numbers = vec![0.0f32; n * 4096 + 16];
    let skip = numbers.as_ptr().align_offset(64); // at a cache line, as Go has it
    let z = &mut numbers[skip..skip + n * 4096];
    let map = Map::new(r#"{"kernel":{"kernel":"gaussian","lengthscale":8},"inputs":64,"features":4096,"seed":1}"#)?;
    map.transform_into(Rows::new(&x, 64)?, z, None)?; // draws the frequencies
    let mut least = f64::INFINITY;
    for _ in 0..calls {
        let start = Instant::now();
        map.transform_into(Rows::new(&x, 64)?, z, None)?;
        least = least.min(start.elapsed().as_secs_f64() * 1e3);
    }
    println!("{least:.4}");
    Ok(())
}

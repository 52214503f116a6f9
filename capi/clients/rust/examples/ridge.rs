// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
//! Gaussian ridge regression on random Fourier features: how far the features are from the exact kernel, a model, its file,
//! what an error says. Run: cargo run --example ridge [FILE]
use mercer::spec::{kernels, maps, models};
use mercer::{Kernel, Map, Model, Result, Rows};

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Multiples of 1/512 in [-1, 1), so that targets have the same bits in every language.
fn uniform(count: usize) -> Vec<f64> {
    let mut state = 1u64;
    let next = |_| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 54) as f64 / 512.0 - 1.0
    };
    (0..count).map(next).collect()
}

/// FNV-1a of the bytes of predictions; clients in other languages print the same.
fn hash(f: &[f64]) -> u64 {
    f.iter().flat_map(|f| f.to_ne_bytes()).fold(14695981039346656037, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(1099511628211))
}

/// Largest |z(x)'z(y) - k(x, y)| over pairs of the rows.
fn kernel_error(kernel: &Kernel, x: &[f64], z: &[f64], d: usize, features: usize) -> Result<f64> {
    let rows = Rows::new(x, d)?;
    let (n, k) = (rows.count(), kernel.gram(rows, rows, None)?);
    let z = |i: usize| &z[i * features..(i + 1) * features];
    Ok((0..n * n).map(|p| (dot(z(p / n), z(p % n)) - k[p]).abs()).fold(0.0, f64::max))
}

fn run(path: &str) -> Result<bool> {
    let (n, d, features, probes) = (2000, 3, 512, 50);
    let x = uniform(n * d);
    let y: Vec<f64> = x.chunks(d).map(|x| x[0] * x[0] + x[1] * x[2]).collect();
    let spec = maps::Auto::new().kernel(kernels::Gaussian::new().lengthscale(0.7)).features(features);
    let map = Map::new(spec.clone().inputs(d).seed(42))?;
    let z = map.transform(Rows::new(&x[..probes * d], d)?, None)?;
    let error = kernel_error(&map.kernel()?, &x[..probes * d], &z, d, features)?;

    // "{}" would search map, kernel, lengthscales and lambda.
    let fit = models::Ridge::new().map(spec).search(false).lambda(1e-6);
    let model = Model::fit(fit, (Rows::new(&x, d)?, Rows::new(&y, 1)?), None)?;
    model.save(path)?;
    let f = Model::load(path)?.predict(Rows::new(&x, d)?, "value", None)?;
    let residual: f64 = f.iter().zip(&y).map(|(f, y)| (y - f).powi(2)).sum();
    let relative = (residual / dot(&y, &y)).sqrt();
    println!("predictions {:016x}", hash(&f));
    println!("relative error {relative:.2e}, largest kernel error {error:.3}");

    let refused = Map::new(r#"{"kernel":{"kernel":"gaussian"},"inputs":-3,"features":8}"#).err().map_or(String::new(), |error| error.text);
    println!("an error says: {refused}");
    // Six standard deviations of the pair form, which is at most sqrt(1.5/D): 2500 pairs stay below.
    Ok(relative < 0.02 && error < 6.0 * (1.5 / features as f64).sqrt() && refused.contains("-3"))
}

fn main() -> Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "ridge_rust.mercer".into());
    assert!(run(&path)?, "a result is not what was expected");
    Ok(())
}

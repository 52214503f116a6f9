// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
//! Gaussian ridge regression on random Fourier features, in Rust with its standard library alone: map, statistics by
//! blocks of rows, ridge, prediction; how far the features are from the exact kernel; a file; what an error says.
//! Build: rustc -O $(pkg-config --libs-only-L mercer) ridge.rs    Usage: ridge [FILE]
use std::ffi::{c_void, CStr, CString};
use std::marker::PhantomData;
use std::mem::size_of;
use std::os::raw::c_char;
use std::ptr::{null, null_mut};

/// mercer_rows over a slice, which it borrows.
#[derive(Clone, Copy)]
#[repr(C)]
struct Rows<'a> {
    struct_size: u32,
    number: i32,
    index: i32,
    reserved: i32,
    n: i64,
    d: i64,
    ld: i64,
    nnz: i64,
    values: *const c_void,
    offsets: *const c_void,
    indices: *const c_void,
    borrowed: PhantomData<&'a [f64]>,
}

/// mercer_matrix over a slice, which it borrows to write.
#[repr(C)]
struct Matrix<'a> {
    struct_size: u32,
    number: i32,
    rows: i64,
    cols: i64,
    ld: i64,
    data: *mut c_void,
    borrowed: PhantomData<&'a mut [f64]>,
}

const F64: i32 = 1; // MERCER_NUMBER_F64

impl<'a> Rows<'a> {
    /// All zeros, for rows that are absent.
    const NONE: Rows<'static> = Rows { struct_size: 0, number: 0, index: 0, reserved: 0, n: 0, d: 0, ld: 0, nnz: 0,
                                       values: null(), offsets: null(), indices: null(), borrowed: PhantomData };

    fn of(values: &'a [f64], d: usize) -> Self {
        assert!(values.len() % d == 0, "{} numbers are no rows of {d}", values.len());
        let (n, d) = ((values.len() / d) as i64, d as i64);
        Rows { struct_size: size_of::<Self>() as u32, number: F64, index: 0, reserved: 0, n, d, ld: d, nnz: 0,
               values: values.as_ptr().cast(), offsets: null(), indices: null(), borrowed: PhantomData }
    }
}

impl<'a> Matrix<'a> {
    fn of(data: &'a mut [f64], cols: usize) -> Self {
        assert!(data.len() % cols == 0, "{} numbers are no rows of {cols}", data.len());
        let (rows, cols) = ((data.len() / cols) as i64, cols as i64);
        Matrix { struct_size: size_of::<Self>() as u32, number: F64, rows, cols, ld: cols,
                 data: data.as_mut_ptr().cast(), borrowed: PhantomData }
    }
}

type Handle = *mut c_void;
type Status = i32;

#[link(name = "mercer")]
extern "C" {
    fn mercer_last_error() -> *const c_char;
    fn mercer_kernel_gram(kernel: Handle, x: Rows, y: Rows, u: Rows, context: Handle,
                          k: Matrix) -> Status;
    fn mercer_kernel_free(kernel: Handle);
    fn mercer_map_from_spec(json: *const c_char, out: *mut Handle) -> Status;
    fn mercer_map_kernel(map: Handle, out: *mut Handle) -> Status;
    fn mercer_map_transform(map: Handle, x: Rows, options: *const c_void, context: Handle,
                            z: Matrix) -> Status;
    fn mercer_map_write(map: Handle, path: *const c_char, buffer: *mut c_void, capacity: i64,
                        needed: *mut i64) -> Status;
    fn mercer_map_read(path: *const c_char, data: *const c_void, size: i64, out: *mut Handle) -> Status;
    fn mercer_map_free(map: Handle);
    fn mercer_statistics_create(features: i64, outputs: i64, out: *mut Handle) -> Status;
    fn mercer_statistics_add(statistics: Handle, sign: i32, z: Rows, y: Rows, context: Handle) -> Status;
    fn mercer_statistics_free(statistics: Handle);
    fn mercer_ridge_create(statistics: Handle, center: i32, context: Handle, out: *mut Handle) -> Status;
    fn mercer_ridge_solve(ridge: Handle, penalty: f64, w: Matrix, intercept: Matrix) -> Status;
    fn mercer_ridge_free(ridge: Handle);
}

/// A failed call in words: function, argument, value and expectation. A Rust thread stays on its thread of the system
/// between two calls, so the text is this call's.
fn check(status: Status) -> Result<(), String> {
    if status == 0 {
        return Ok(());
    }
    Err(unsafe { CStr::from_ptr(mercer_last_error()) }.to_string_lossy().into_owned())
}

/// A handle that is freed with its owner.
struct Owned(Handle, unsafe extern "C" fn(Handle));

impl Drop for Owned {
    fn drop(&mut self) {
        unsafe { self.1(self.0) }
    }
}

fn make(free: unsafe extern "C" fn(Handle), create: impl FnOnce(*mut Handle) -> Status) -> Result<Owned, String> {
    let mut handle = null_mut();
    check(create(&mut handle))?;
    Ok(Owned(handle, free))
}

fn features(map: &Owned, x: &[f64], d: usize, count: usize) -> Result<Vec<f64>, String> {
    let mut z = vec![0.0; x.len() / d * count];
    check(unsafe { mercer_map_transform(map.0, Rows::of(x, d), null(), null_mut(), Matrix::of(&mut z, count)) })?;
    Ok(z)
}

/// Weights and intercept from statistics added up block by block, so that one block of features is in memory.
fn fit(map: &Owned, x: &[f64], y: &[f64], d: usize, count: usize) -> Result<(Vec<f64>, f64), String> {
    let statistics =
        make(mercer_statistics_free, |out| unsafe { mercer_statistics_create(count as i64, 1, out) })?;
    for (block, targets) in x.chunks(256 * d).zip(y.chunks(256)) {
        let z = features(map, block, d, count)?;
        check(unsafe {
            mercer_statistics_add(statistics.0, 1, Rows::of(&z, count), Rows::of(targets, 1), null_mut())
        })?;
    }
    let ridge = make(mercer_ridge_free, |out| unsafe { mercer_ridge_create(statistics.0, 1, null_mut(), out) })?;
    let (mut w, mut intercept) = (vec![0.0; count], [0.0]);
    check(unsafe { mercer_ridge_solve(ridge.0, 1e-6, Matrix::of(&mut w, 1), Matrix::of(&mut intercept, 1)) })?;
    Ok((w, intercept[0]))
}

/// Largest |z(x)'z(y) - k(x, y)| over pairs of the rows.
fn kernel_error(kernel: &Owned, x: &[f64], z: &[f64], d: usize, count: usize) -> Result<f64, String> {
    let n = x.len() / d;
    let mut k = vec![0.0; n * n];
    let rows = Rows::of(x, d);
    check(unsafe { mercer_kernel_gram(kernel.0, rows, rows, Rows::NONE, null_mut(), Matrix::of(&mut k, n)) })?;
    let inner = |i: usize, j: usize| dot(&z[i * count..(i + 1) * count], &z[j * count..(j + 1) * count]);
    Ok((0..n * n).map(|p| (inner(p / n, p % n) - k[p]).abs()).fold(0.0, f64::max))
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Numbers in [-1, 1), the same everywhere.
fn uniform(count: usize) -> Vec<f64> {
    let mut state = 1u64;
    let next = |_| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / 4503599627370496.0 - 1.0
    };
    (0..count).map(next).collect()
}

fn run(path: &str) -> Result<bool, String> {
    let (n, d, count, probes) = (2000, 3, 512, 50);
    let x = uniform(n * d);
    let y: Vec<f64> = x.chunks(d).map(|x| (3.0 * x[0]).sin() + x[1] * x[2]).collect();

    let create = |d: i64| {
        let spec = format!("{{\"map\":\"fourier\",\"kernel\":{{\"kernel\":\"gaussian\",\"lengthscale\":0.7}},\
                            \"inputs\":{d},\"features\":{count},\"seed\":42}}");
        let json = CString::new(spec).map_err(|e| e.to_string())?;
        make(mercer_map_free, |out| unsafe { mercer_map_from_spec(json.as_ptr(), out) })
    };
    let map = create(d as i64)?;
    let kernel = make(mercer_kernel_free, |out| unsafe { mercer_map_kernel(map.0, out) })?;

    let (w, intercept) = fit(&map, &x, &y, d, count)?;
    let z = features(&map, &x, d, count)?;
    let residual: f64 = z.chunks(count).zip(&y).map(|(z, y)| (y - dot(z, &w) - intercept).powi(2)).sum();
    let relative = (residual / dot(&y, &y)).sqrt();
    let error = kernel_error(&kernel, &x[..probes * d], &z, d, count)?;
    println!("relative error {relative:.2e}, largest kernel error {error:.3}");

    let file = CString::new(path).map_err(|e| e.to_string())?;
    check(unsafe { mercer_map_write(map.0, file.as_ptr(), null_mut(), 0, null_mut()) })?;
    let loaded = make(mercer_map_free, |out| unsafe { mercer_map_read(file.as_ptr(), null(), 0, out) })?;
    let same = features(&loaded, &x[..probes * d], d, count)? == z[..probes * count];

    let refused = match create(-3) {
        Ok(_) => false,
        Err(text) => {
            println!("an error says: {text}");
            text.contains("-3")
        }
    };
    // Six standard deviations of the pair form, which is at most sqrt(1.5/D): 2500 pairs stay below.
    Ok(relative < 0.01 && error < 6.0 * (1.5 / count as f64).sqrt() && same && refused)
}

fn main() {
    let path = std::env::args().nth(1).unwrap_or_else(|| "ridge_rust.mercer".into());
    match run(&path) {
        Ok(true) => (),
        Ok(false) => {
            eprintln!("a result is not what was expected");
            std::process::exit(1)
        }
        Err(text) => {
            eprintln!("{text}");
            std::process::exit(1)
        }
    }
}

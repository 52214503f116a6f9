// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
//! Random feature maps of kernels, and models on them, by libmercer.
//!
//! ```
//! use mercer::{spec::{kernels, maps}, Ask, Extrapolation, Map, Model, Rows};
//! let x: Vec<f64> = (0..300).map(|i| (i as f64 * 0.37).sin()).collect(); // 100 rows of 3
//! let y: Vec<f64> = x.chunks(3).map(|row| row[0] * row[1]).collect();
//! let map = Map::new(maps::Fourier::new().kernel(kernels::Gaussian::new().lengthscale(1.0)).inputs(3).features(64))?;
//! let z: Vec<f64> = map.transform(Rows::new(&x, 3)?, None)?; // 100 x 64; inner products are near the kernel
//! let model = Model::fit("{}", (Rows::new(&x, 3)?, Rows::new(&y, 1)?), None)?;
//! let f = model.predict(Rows::new(&x, 3)?, "value", None)?;
//! let clipped = model.predict(Rows::new(&x, 3)?, Ask::from("value").extrapolation(Extrapolation::Clip), None)?;
//! # assert_eq!((z.len(), f.len(), clipped.len()), (6400, 100, 100));
//! # Ok::<(), mercer::Error>(())
//! ```
pub mod raw;
pub mod spec;

mod ask;
mod context;
mod data;
mod kernel;
mod map;
mod measure;
mod model;
mod rows;

pub use ask::{Ask, Extrapolation, Outside};
pub use context::{Canceller, Context};
pub use data::{Block, Data, Observations, RowSource, SourceError};
pub use map::Csr;
pub use measure::score;
pub use rows::{lengthscale_median, rows_test, Number, Rows};

use std::ffi::{CStr, CString};
use std::fmt;
use std::os::raw::c_char;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::{null, null_mut};

/// A call that failed: its status, and function, argument, value and expectation in words.
#[derive(Debug, Clone, PartialEq)]
pub struct Error {
    pub status: i32,
    pub text: String,
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str(&self.text)
    }
}
impl std::error::Error for Error {}
impl Error {
    /// Of its status, such as "MERCER_CANCELLED".
    pub fn name(&self) -> &'static str {
        unsafe { CStr::from_ptr(raw::mercer_status_name(self.status)) }.to_str().unwrap_or("")
    }
}

pub type Result<T> = std::result::Result<T, Error>;

fn invalid(text: String) -> Error {
    Error { status: raw::MERCER_INVALID_ARGUMENT, text }
}

/// A Rust thread stays on its thread of the system between two calls, so the text is this call's.
fn check(status: i32) -> Result<()> {
    if status == raw::MERCER_OK {
        return Ok(());
    }
    let text = unsafe { CStr::from_ptr(raw::mercer_last_error()) }.to_string_lossy().into_owned();
    Err(Error { status, text })
}

fn c_string(argument: &str, text: impl AsRef<[u8]>) -> Result<CString> {
    let text = text.as_ref();
    CString::new(text).map_err(|_| invalid(format!("{argument} = {:?} has a NUL, expected text without", String::from_utf8_lossy(text))))
}

/// The bytes that a call writes into a buffer of the size it asks for.
fn filled(call: impl Fn(*mut u8, i64, *mut i64) -> i32) -> Result<Vec<u8>> {
    let mut needed = 0;
    check(call(null_mut(), 0, &mut needed))?;
    let mut bytes = vec![0u8; needed as usize];
    check(call(bytes.as_mut_ptr(), needed, &mut needed))?;
    Ok(bytes)
}

fn text(call: impl Fn(*mut c_char, i64, *mut i64) -> i32) -> Result<String> {
    let mut bytes = filled(|buffer, capacity, needed| call(buffer.cast(), capacity, needed))?;
    bytes.pop();
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Version of the loaded library.
pub fn version() -> String {
    unsafe { CStr::from_ptr(raw::mercer_version()) }.to_string_lossy().into_owned()
}

/// What kernels, maps, projections and models there are, or those of a name: JSON.
pub fn specs(name: &str) -> Result<String> {
    let name = c_string("specs: name", name)?;
    text(|buffer, capacity, needed| unsafe { raw::mercer_specs(name.as_ptr(), buffer, capacity, needed) })
}

/// A struct of C of zeros, which are the defaults, with its size.
macro_rules! sized {
    ($name:ident) => {{
        let mut value: crate::raw::$name = unsafe { std::mem::zeroed() };
        value.struct_size = std::mem::size_of::<crate::raw::$name>() as u32;
        value
    }};
}
pub(crate) use sized;

macro_rules! handle {
    ($name:ident, $raw:ident, $free:ident, $help:literal) => {
        #[doc = $help]
        #[derive(Debug)]
        pub struct $name(*mut raw::$raw);
        // Functions that take a handle as const may run at once on it, and no other is called here.
        unsafe impl Send for $name {}
        unsafe impl Sync for $name {}
        impl Drop for $name {
            fn drop(&mut self) {
                unsafe { raw::$free(self.0) }
            }
        }
        impl $name {
            /// The handle of C, for functions of `raw`; it stays this object's.
            pub fn as_raw(&self) -> *mut raw::$raw {
                self.0
            }
            fn made(context: Option<&Context>, create: impl FnOnce(*mut raw::mercer_context, *mut *mut raw::$raw) -> i32) -> Result<Self> {
                let mut own = $name(null_mut()); // dropped where a panic of a callback goes on
                Context::run(context, |running| create(running, &mut own.0))?;
                Ok(own)
            }
        }
    };
}

macro_rules! stored {
    ($name:ident, $write:ident, $read:ident) => {
        impl $name {
            pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
                let path = c_string(concat!(stringify!($name), "::save: path"), path.as_ref().as_os_str().as_bytes())?;
                check(unsafe { raw::$write(self.0, path.as_ptr(), null_mut(), 0, null_mut()) })
            }
            pub fn load(path: impl AsRef<Path>) -> Result<Self> {
                let path = c_string(concat!(stringify!($name), "::load: path"), path.as_ref().as_os_str().as_bytes())?;
                Self::made(None, |_, out| unsafe { raw::$read(path.as_ptr(), null(), 0, out) })
            }
            /// What save writes.
            pub fn to_bytes(&self) -> Result<Vec<u8>> {
                filled(|buffer, capacity, needed| unsafe { raw::$write(self.0, null(), buffer.cast(), capacity, needed) })
            }
            pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
                Self::made(None, |_, out| unsafe { raw::$read(null(), bytes.as_ptr().cast(), bytes.len() as i64, out) })
            }
        }
    };
}

handle!(Kernel, mercer_kernel, mercer_kernel_free, "An exact kernel.");
handle!(Map, mercer_map, mercer_map_free, "A feature map.");
handle!(Model, mercer_model, mercer_model_free, "A fitted model: preparation, map and weights.");
stored!(Map, mercer_map_write, mercer_map_read);
stored!(Model, mercer_model_write, mercer_model_read);

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
//! Random feature maps of kernels, and models on them, by libmercer.
//!
//! ```
//! use mercer::{spec::{kernels, maps}, Map, Model, Rows};
//! let x: Vec<f64> = (0..300).map(|i| (i as f64 * 0.37).sin()).collect(); // 100 rows of 3
//! let y: Vec<f64> = x.chunks(3).map(|row| row[0] * row[1]).collect();
//! let map = Map::new(maps::Fourier::new().kernel(kernels::Gaussian::new().lengthscale(1.0)).inputs(3).features(64))?;
//! let z: Vec<f64> = map.transform(Rows::new(&x, 3)?, None)?; // 100 x 64; inner products are near the kernel
//! let model = Model::fit("{}", Rows::new(&x, 3)?, Rows::new(&y, 1)?, None)?;
//! let f = model.predict(Rows::new(&x, 3)?, "value", 1, None)?;
//! # assert_eq!((z.len(), f.len()), (6400, 100));
//! # Ok::<(), mercer::Error>(())
//! ```
pub mod raw;
pub mod spec;

mod context;
mod rows;

pub use context::{Canceller, Context};
pub use rows::{Number, Rows};

use std::ffi::{CStr, CString};
use std::fmt;
use std::mem::{size_of, zeroed};
use std::os::raw::c_char;
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

fn c_string(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| invalid(format!("a NUL in {text:?}, expected text without")))
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
    let name = c_string(name)?;
    text(|buffer, capacity, needed| unsafe { raw::mercer_specs(name.as_ptr(), buffer, capacity, needed) })
}

macro_rules! handle {
    ($name:ident, $raw:ident, $free:ident, $help:literal) => {
        #[doc = $help]
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
            #[allow(dead_code)]
            fn made(create: impl FnOnce(*mut *mut raw::$raw) -> i32) -> Result<Self> {
                let mut handle = null_mut();
                check(create(&mut handle))?;
                Ok($name(handle))
            }
        }
    };
}

macro_rules! stored {
    ($name:ident, $write:ident, $read:ident) => {
        impl $name {
            pub fn save(&self, path: &str) -> Result<()> {
                let path = c_string(path)?;
                check(unsafe { raw::$write(self.0, path.as_ptr(), null_mut(), 0, null_mut()) })
            }
            pub fn load(path: &str) -> Result<Self> {
                let path = c_string(path)?;
                Self::made(|out| unsafe { raw::$read(path.as_ptr(), null(), 0, out) })
            }
            /// What save writes.
            pub fn to_bytes(&self) -> Result<Vec<u8>> {
                filled(|buffer, capacity, needed| unsafe { raw::$write(self.0, null(), buffer.cast(), capacity, needed) })
            }
            pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
                Self::made(|out| unsafe { raw::$read(null(), bytes.as_ptr().cast(), bytes.len() as i64, out) })
            }
        }
    };
}

handle!(Kernel, mercer_kernel, mercer_kernel_free, "An exact kernel.");
handle!(Map, mercer_map, mercer_map_free, "A feature map.");
handle!(Model, mercer_model, mercer_model_free, "A fitted model: preparation, map and weights.");
stored!(Map, mercer_map_write, mercer_map_read);
stored!(Model, mercer_model_write, mercer_model_read);

impl Kernel {
    /// From its spec, such as `{"kernel":"matern","lengthscale":2}`, as text or of `spec::kernels`.
    pub fn new(spec: impl spec::Of<Kernel>) -> Result<Self> {
        let json = c_string(&spec.json()?)?;
        Self::made(|out| unsafe { raw::mercer_kernel_from_spec(json.as_ptr(), out) })
    }
    /// K(x, y) of a kernel of one output, row after row.
    pub fn gram(&self, x: Rows, y: Rows, context: Option<&Context>) -> Result<Vec<f64>> {
        let mut k = vec![0.0; x.count() * y.count()];
        let out = rows::matrix(&mut k, y.count());
        Context::run(context, |running| unsafe {
            raw::mercer_kernel_gram(self.0, x.view(), y.view(), Rows::none(), running, out)
        })?;
        Ok(k)
    }
}

impl Map {
    /// From its spec, such as `{"kernel":{"kernel":"gaussian"},"inputs":3,"features":512}`, as text or of `spec::maps`.
    pub fn new(spec: impl spec::Of<Map>) -> Result<Self> {
        let json = c_string(&spec.json()?)?;
        Self::made(|out| unsafe { raw::mercer_map_from_spec(json.as_ptr(), out) })
    }
    /// A map that is learnt from rows, such as `nystroem`.
    pub fn fit(spec: impl spec::Of<Map>, x: Rows, context: Option<&Context>) -> Result<Self> {
        let json = c_string(&spec.json()?)?;
        let mut data: raw::mercer_map_data = unsafe { zeroed() };
        data.struct_size = size_of::<raw::mercer_map_data>() as u32;
        data.X = x.view();
        let mut handle = null_mut();
        Context::run(context, |running| unsafe { raw::mercer_map_fit(json.as_ptr(), &data, running, &mut handle) })?;
        Ok(Map(handle))
    }
    pub fn spec(&self) -> Result<String> {
        text(|buffer, capacity, needed| unsafe { raw::mercer_map_spec(self.0, buffer, capacity, needed) })
    }
    /// What it reads and writes: inputs, outputs, features, is_complex, ...
    pub fn shape(&self) -> raw::mercer_map_info {
        let mut info: raw::mercer_map_info = unsafe { zeroed() };
        info.struct_size = size_of::<raw::mercer_map_info>() as u32;
        unsafe { raw::mercer_map_shape(self.0, &mut info) };
        info
    }
    /// The kernel that its features estimate.
    pub fn kernel(&self) -> Result<Kernel> {
        Kernel::made(|out| unsafe { raw::mercer_map_kernel(self.0, out) })
    }
    /// The features of rows, of their precision, row after row; of a complex map re and im in turn.
    pub fn transform<T: Number>(&self, x: Rows<T>, context: Option<&Context>) -> Result<Vec<T>> {
        let shape = self.shape();
        let each = (shape.outputs * shape.features * (1 + i64::from(shape.is_complex))) as usize;
        let mut z = vec![T::default(); x.count() * each];
        self.transform_into(x, &mut z, context)?;
        Ok(z)
    }
    /// The same into a slice of exactly as many numbers.
    pub fn transform_into<T: Number>(&self, x: Rows<T>, z: &mut [T], context: Option<&Context>) -> Result<()> {
        let shape = self.shape();
        let (rows, each) = (x.count() * shape.outputs as usize, shape.features as usize);
        let numbers = rows * each * (1 + shape.is_complex as usize);
        if z.len() != numbers {
            return Err(invalid(format!("z has {} numbers, expected {numbers} for {rows} rows of {each} features", z.len())));
        }
        let mut out = rows::matrix(z, each);
        out.rows = rows as i64;
        out.number += 2 * shape.is_complex; // C32 and C64 are two after F32 and F64
        Context::run(context, |running| unsafe { raw::mercer_map_transform(self.0, x.view(), null(), running, out) })
    }
}

impl Model {
    /// The model of a spec, text or of `spec::models`; `{}` searches whatever it leaves open. Y of a model without targets: `Rows::<f64>::new(&[], 1)?`.
    pub fn fit<T: Number, U: Number>(spec: impl spec::Of<Model>, x: Rows<T>, y: Rows<U>, context: Option<&Context>) -> Result<Self> {
        let json = c_string(&spec.json()?)?;
        let mut data: raw::mercer_data = unsafe { zeroed() };
        data.struct_size = size_of::<raw::mercer_data>() as u32;
        data.X = x.view();
        if y.count() > 0 {
            data.Y = y.view();
        }
        let mut handle = null_mut();
        Context::run(context, |running| unsafe { raw::mercer_model_fit(json.as_ptr(), &data, running, &mut handle) })?;
        Ok(Model(handle))
    }
    /// `columns` numbers for each row: "value", "class", "probability", "predictive_variance", ... (mercer/model.h).
    pub fn predict<T: Number>(&self, x: Rows<T>, what: &str, columns: usize, context: Option<&Context>) -> Result<Vec<f64>> {
        let what = c_string(what)?;
        let mut f = vec![0.0; x.count() * columns];
        let out = rows::matrix(&mut f, columns);
        Context::run(context, |running| unsafe {
            raw::mercer_model_predict(self.0, x.view(), what.as_ptr(), null(), running, out)
        })?;
        Ok(f)
    }
    /// "spec", "report" or "metadata".
    pub fn text(&self, what: &str) -> Result<String> {
        let what = c_string(what)?;
        text(|buffer, capacity, needed| unsafe { raw::mercer_model_text(self.0, what.as_ptr(), buffer, capacity, needed) })
    }
}

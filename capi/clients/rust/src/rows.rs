// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
//! Slices as the views that C reads and writes.
use crate::spec::{self, Of};
use crate::{c_string, invalid, raw, sized, Context, Error, Result};
use std::marker::PhantomData;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// f32 or f64.
pub trait Number: Copy + Default + std::fmt::Debug + sealed::Sealed {
    #[doc(hidden)]
    const NUMBER: i32;
}
impl Number for f32 {
    const NUMBER: i32 = raw::MERCER_NUMBER_F32;
}
impl Number for f64 {
    const NUMBER: i32 = raw::MERCER_NUMBER_F64;
}

/// Rows of a slice, or sparse rows of three, which it borrows.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a, T: Number = f64>(raw::mercer_rows, PhantomData<&'a [T]>);
// It only reads the slices.
unsafe impl<T: Number> Send for Rows<'_, T> {}
unsafe impl<T: Number> Sync for Rows<'_, T> {}

impl<'a, T: Number> Rows<'a, T> {
    /// Rows of d numbers, one after the other.
    pub fn new(values: &'a [T], d: usize) -> Result<Self> {
        if d == 0 || values.len() % d != 0 {
            let expected = "expected whole rows of 1 number or more";
            return Err(invalid(format!("Rows::new: {} numbers of rows of d = {d}, {expected}", values.len())));
        }
        Ok(Self::dense(values, d))
    }
    /// A number for each row.
    pub(crate) fn column(values: &'a [T]) -> Self {
        Self::dense(values, 1)
    }
    fn dense(values: &'a [T], d: usize) -> Self {
        let mut view = Self::sized(values.len() / d, d);
        view.ld = d as i64;
        view.values = values.as_ptr().cast();
        Rows(view, PhantomData)
    }

    /// CSR: row i has `values[p]` in column `indices[p]` for p from `offsets[i]` to `offsets[i + 1]`.
    pub fn sparse(values: &'a [T], offsets: &'a [i64], indices: &'a [i64], d: usize) -> Result<Self> {
        if offsets.is_empty() || values.len() != indices.len() {
            return Err(invalid(format!("Rows::sparse: {} offsets, {} values and {} indices, expected one offset more than there are \
                                        rows, and as many indices as values", offsets.len(), values.len(), indices.len())));
        }
        let mut view = Self::sized(offsets.len() - 1, d);
        view.index = raw::MERCER_INDEX_I64;
        view.nnz = values.len() as i64;
        view.values = values.as_ptr().cast();
        view.offsets = offsets.as_ptr().cast();
        view.indices = indices.as_ptr().cast();
        Ok(Rows(view, PhantomData))
    }

    pub fn count(&self) -> usize {
        self.0.n as usize
    }

    /// The view of C, for functions of `raw`; it points to what the rows borrow.
    pub fn view(&self) -> raw::mercer_rows {
        self.0
    }

    fn sized(n: usize, d: usize) -> raw::mercer_rows {
        raw::mercer_rows { number: T::NUMBER, n: n as i64, d: d as i64, ..sized!(mercer_rows) }
    }
}

/// Rows that are not given.
pub(crate) fn absent() -> raw::mercer_rows {
    unsafe { std::mem::zeroed() }
}

/// A result of so many rows, where there is room for it.
pub(crate) fn matrix<T: Number>(data: *mut T, rows: usize, cols: usize) -> raw::mercer_matrix {
    let (rows, cols) = (rows as i64, cols as i64);
    raw::mercer_matrix { number: T::NUMBER, rows, cols, ld: cols, data: data.cast(), ..sized!(mercer_matrix) }
}

/// a x b numbers that a call writes, all of them where it succeeds; an error where there is no memory for them.
pub(crate) fn written<T>(function: &str, a: usize, b: usize, call: impl FnOnce(*mut T) -> Result<()>) -> Result<Vec<T>> {
    let mut numbers = Vec::new();
    if a.checked_mul(b).map_or(true, |count| numbers.try_reserve_exact(count).is_err()) {
        let text = format!("{function}: a result of {a} x {b} numbers, expected one that fits into memory");
        return Err(Error { status: raw::MERCER_OUT_OF_MEMORY, text });
    }
    call(numbers.as_mut_ptr())?;
    unsafe { numbers.set_len(a * b) };
    Ok(numbers)
}

/// The answer, as JSON, of a test of rows: "mmd", "block_mmd", "kid" or "hsic" (mercer/rows_test.h).
pub fn rows_test<T: Number, U: Number>(spec: impl Of<spec::Test>, x: Rows<T>, y: Rows<U>, context: Option<&Context>) -> Result<String> {
    let json = c_string("rows_test: spec", &spec.json()?)?;
    let mut bytes = vec![0u8; 1 << 15];
    loop {
        let (mut needed, capacity) = (0, bytes.len() as i64);
        let result = Context::run(context, |running| unsafe {
            raw::mercer_rows_test(json.as_ptr(), x.view(), y.view(), running, bytes.as_mut_ptr().cast(), capacity, &mut needed)
        });
        if needed <= capacity {
            result?;
            bytes.truncate(needed as usize - 1);
            return Ok(String::from_utf8_lossy(&bytes).into_owned());
        }
        bytes.resize(needed as usize, 0); // the size of a long answer is known after the test
    }
}

/// The median of the distances between rows, of at most max_pairs pairs, which seed draws if there are more.
pub fn lengthscale_median<T: Number>(x: Rows<T>, max_pairs: i64, seed: u64, context: Option<&Context>) -> Result<f64> {
    let mut median = 0.0;
    Context::run(context, |running| unsafe { raw::mercer_lengthscale_median(x.view(), max_pairs, seed, running, &mut median) })?;
    Ok(median)
}

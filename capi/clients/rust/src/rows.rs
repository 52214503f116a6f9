// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
//! Slices as the views that C reads and writes.
use crate::spec::{self, Of};
use crate::{c_string, invalid, raw, sized, Context, Result};
use std::marker::PhantomData;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// f32 or f64.
pub trait Number: Copy + Default + sealed::Sealed {
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
#[derive(Clone, Copy)]
pub struct Rows<'a, T: Number = f64>(raw::mercer_rows, PhantomData<&'a [T]>);

impl<'a, T: Number> Rows<'a, T> {
    /// Rows of d numbers, one after the other.
    pub fn new(values: &'a [T], d: usize) -> Result<Self> {
        if d == 0 || values.len() % d != 0 {
            return Err(invalid(format!("{} numbers, expected rows of {d}", values.len())));
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
            return Err(invalid(format!("{} offsets, {} values and {} indices, expected a row's end more than rows and as many \
                                        indices as values", offsets.len(), values.len(), indices.len())));
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

/// A result in a slice of whole rows.
pub(crate) fn matrix<T: Number>(data: &mut [T], cols: usize) -> raw::mercer_matrix {
    let rows = if cols == 0 { 0 } else { data.len() / cols };
    raw::mercer_matrix {
        number: T::NUMBER,
        rows: rows as i64,
        cols: cols as i64,
        ld: cols as i64,
        data: data.as_mut_ptr().cast(),
        ..sized!(mercer_matrix)
    }
}

/// The answer, as JSON, of a test of rows: "mmd", "block_mmd", "kid" or "hsic" (mercer/rows_test.h).
pub fn rows_test<T: Number, U: Number>(spec: impl Of<spec::Test>, x: Rows<T>, y: Rows<U>, context: Option<&Context>) -> Result<String> {
    let json = c_string(&spec.json()?)?;
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

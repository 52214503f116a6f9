// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
//! What a fit learns from.
use crate::{raw, rows, sized, Error, Map, Number, Result, Rows};
use std::any::Any;
use std::marker::PhantomData;
use std::os::raw::c_void;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};

/// Rows, or (rows, targets).
#[derive(Clone, Copy)]
pub struct Block<'a> {
    pub(crate) x: raw::mercer_rows,
    pub(crate) y: raw::mercer_rows,
    borrowed: PhantomData<&'a ()>,
}
impl<'a, T: Number> From<Rows<'a, T>> for Block<'a> {
    fn from(x: Rows<'a, T>) -> Self {
        Block { x: x.view(), y: rows::absent(), borrowed: PhantomData }
    }
}
impl<'a, T: Number, U: Number> From<(Rows<'a, T>, Rows<'a, U>)> for Block<'a> {
    fn from((x, y): (Rows<'a, T>, Rows<'a, U>)) -> Self {
        Block { x: x.view(), y: y.view(), borrowed: PhantomData }
    }
}

/// Why a source failed; a fit ends with MERCER_IO and this text.
pub type SourceError = Box<dyn std::error::Error>;

/// Rows that are not in memory, delivered block by block as often as a fit reads them. A panic ends the fit and goes on after it.
pub trait RowSource {
    fn inputs(&self) -> usize;
    /// 0 of a model without.
    fn targets(&self) -> usize;
    /// Whether targets have one more column, the last, with the row weights.
    fn weighted(&self) -> bool {
        false
    }
    /// Starts again at the first row.
    fn rewind(&mut self) -> std::result::Result<(), SourceError>;
    /// The next rows, with targets; some thousand at a time are best. None, or no rows: the end.
    fn next(&mut self) -> std::result::Result<Option<Block<'_>>, SourceError>;
}

/// A source during a fit, and what ended it.
struct Reading<'a> {
    source: &'a mut dyn RowSource,
    error: Option<SourceError>,
    panic: Option<Box<dyn Any + Send>>,
}

/// Nothing may unwind through C.
unsafe fn guarded(user: *mut c_void, call: impl FnOnce(&mut dyn RowSource) -> std::result::Result<(), SourceError>) -> i32 {
    let reading = &mut *(user as *mut Reading);
    match catch_unwind(AssertUnwindSafe(|| call(reading.source))) {
        Ok(Ok(())) => return 0,
        Ok(Err(error)) => reading.error = Some(error),
        Err(panic) => reading.panic = Some(panic),
    }
    1
}
unsafe extern "C" fn rewind(user: *mut c_void) -> i32 {
    guarded(user, |source| source.rewind())
}
/// What is lent stays as it is until the source is asked again: nobody else has it.
unsafe extern "C" fn next(user: *mut c_void, x: *mut raw::mercer_rows, y: *mut raw::mercer_rows) -> i32 {
    guarded(user, |source| {
        if let Some(block) = source.next()?.filter(|block| block.x.n > 0) {
            *x = block.x;
            *y = block.y;
        }
        Ok(())
    })
}

/// What a model is fitted to: rows or (rows, targets) by `from`, with options, or a source.
pub struct Data<'a> {
    raw: raw::mercer_data,
    weights: Option<&'a [f64]>,
    source: Option<&'a mut dyn RowSource>,
}
impl<'a, T: Number> From<Rows<'a, T>> for Data<'a> {
    fn from(x: Rows<'a, T>) -> Self {
        Data::of(x.into())
    }
}
impl<'a, T: Number, U: Number> From<(Rows<'a, T>, Rows<'a, U>)> for Data<'a> {
    fn from(pair: (Rows<'a, T>, Rows<'a, U>)) -> Self {
        Data::of(pair.into())
    }
}

impl<'a> Data<'a> {
    fn of(block: Block<'a>) -> Self {
        Data { raw: raw::mercer_data { X: block.x, Y: block.y, ..sized!(mercer_data) }, weights: None, source: None }
    }
    /// Rows that are not in memory.
    pub fn source(source: &'a mut dyn RowSource) -> Self {
        Data { raw: sized!(mercer_data), weights: None, source: Some(source) }
    }
    /// A number >= 0 for each row.
    pub fn weights(self, each: &'a [f64]) -> Self {
        Data { weights: Some(each), ..self }
    }
    /// A number for each row: splits keep rows of the same number together.
    pub fn groups<T: Number>(mut self, each: &'a [T]) -> Self {
        self.raw.groups = Rows::column(each).view();
        self
    }
    /// The features of the fit, in place of its spec's.
    pub fn map(mut self, map: &'a Map) -> Self {
        self.raw.map = map.as_raw();
        self
    }

    /// Calls with C's view of it; a panic of the source goes on here.
    pub(crate) fn with<R>(mut self, call: impl FnOnce(&raw::mercer_data) -> Result<R>) -> Result<R> {
        if let Some(each) = self.weights {
            if each.len() as i64 != self.raw.X.n {
                let text = format!("Data::weights: {} weights, expected one for each of {} rows in memory", each.len(), self.raw.X.n);
                return Err(Error { status: raw::MERCER_DIMENSION_MISMATCH, text });
            }
            self.raw.weights = each.as_ptr();
        }
        let source = match self.source {
            Some(source) => source,
            None => return call(&self.raw),
        };
        let mut calls = sized!(mercer_row_source);
        calls.d = source.inputs() as i64;
        calls.m = source.targets() as i64;
        calls.weighted = source.weighted().into();
        calls.rewind = Some(rewind);
        calls.next = Some(next);
        let mut reading = Reading { source, error: None, panic: None };
        calls.user = &mut reading as *mut Reading as *mut c_void;
        self.raw.source = &calls;
        let result = call(&self.raw);
        match (reading.panic, reading.error) {
            (Some(panic), _) => resume_unwind(panic),
            (None, Some(error)) => Err(Error { status: raw::MERCER_IO, text: format!("RowSource: {error}") }),
            (None, None) => result,
        }
    }
}

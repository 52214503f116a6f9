// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
//! What a fit learns from.
use crate::{invalid, raw, rows, sized, Error, Map, Number, Result, Rows};
use std::any::Any;
use std::marker::PhantomData;
use std::os::raw::c_void;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};

/// Rows, or (rows, targets).
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    pub(crate) x: raw::mercer_rows,
    pub(crate) y: raw::mercer_rows,
    borrowed: PhantomData<&'a ()>,
}
// It only reads the slices of its rows.
unsafe impl Send for Block<'_> {}
unsafe impl Sync for Block<'_> {}
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

/// Rows that are not in memory, delivered block by block as often as a fit reads them. A panic ends the fit, which then
/// panics with it.
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
    /// Whether several processes share the rows, each with a source of its own: then `sum` is called.
    fn shared(&self) -> bool {
        false
    }
    /// Replaces each number by its sum over the processes, the same bits in each.
    fn sum(&mut self, numbers: &mut [f64]) -> std::result::Result<(), SourceError> {
        Err(format!("{} numbers to sum, expected RowSource::sum beside shared", numbers.len()).into())
    }
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
        // The first: a source that failed still has its sums added up, which tells the other processes.
        Ok(Err(error)) => drop(reading.error.get_or_insert(error)),
        Err(panic) => drop(reading.panic.get_or_insert(panic)),
    }
    1
}
unsafe extern "C" fn rewind(user: *mut c_void) -> i32 {
    guarded(user, |source| source.rewind())
}
/// What is lent stays as it is until the source is asked again: nobody else has it.
unsafe extern "C" fn next(user: *mut c_void, x: *mut raw::mercer_rows, y: *mut raw::mercer_rows) -> i32 {
    guarded(user, |source| {
        if let Some(block) = source.next()? {
            *x = block.x;
            *y = block.y;
        }
        Ok(())
    })
}

unsafe extern "C" fn sum(user: *mut c_void, n: i64, numbers: *mut f64) -> i32 {
    let numbers = if n > 0 { std::slice::from_raw_parts_mut(numbers, n as usize) } else { &mut [] };
    guarded(user, |source| source.sum(numbers))
}

/// Noisy observations y of one partial derivative of a function, at rows x.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Observations<'a>(raw::mercer_observations, PhantomData<&'a ()>);
// It only reads slices.
unsafe impl Send for Observations<'_> {}
unsafe impl Sync for Observations<'_> {}

impl<'a> Observations<'a> {
    /// partial: an order for each input; empty: of the function itself.
    pub fn new(rows: impl Into<Block<'a>>, partial: &'a [i32]) -> Result<Self> {
        let block = rows.into();
        let set = raw::mercer_observations { X: block.x, Y: block.y, weight: 1.0, ..sized!(mercer_observations) };
        if partial.is_empty() {
            return Ok(Observations(set, PhantomData));
        }
        counted("Observations::new", "orders", partial.len(), "input", block.x.d)?;
        Ok(Observations(raw::mercer_observations { partial: partial.as_ptr(), ..set }, PhantomData))
    }
    /// > 0, of every row, such as 1 / variance of the noise.
    pub fn weight(self, weight: f64) -> Self {
        Observations(raw::mercer_observations { weight, ..self.0 }, PhantomData)
    }
    /// A number >= 0 for each row.
    pub fn row_weights(self, each: &'a [f64]) -> Result<Self> {
        counted("Observations::row_weights", "weights", each.len(), "row", self.0.X.n)?;
        Ok(Observations(raw::mercer_observations { row_weights: each.as_ptr(), ..self.0 }, PhantomData))
    }
}

fn counted(function: &str, what: &str, given: usize, each: &str, expected: i64) -> Result<()> {
    if given as i64 == expected {
        return Ok(());
    }
    let text = format!("{function}: {given} {what}, expected one for each {each} of X, {expected}");
    Err(Error { status: raw::MERCER_DIMENSION_MISMATCH, text })
}

/// What a model is fitted to: rows or (rows, targets) by `from`, with options; a source; or observations.
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
    /// Values and derivatives.
    pub fn sets(sets: &'a [Observations<'a>]) -> Self {
        let raw = raw::mercer_data { sets: sets.as_ptr().cast(), set_count: sets.len() as i64, ..sized!(mercer_data) };
        Data { raw, weights: None, source: None }
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
    /// The fit uses this map in place of one of its spec.
    pub fn map(mut self, map: &'a Map) -> Self {
        self.raw.map = map.as_raw();
        self
    }

    /// Calls with C's view of it, and resumes a panic of the source.
    pub(crate) fn with<R>(mut self, call: impl FnOnce(&raw::mercer_data) -> Result<R>) -> Result<R> {
        if let (Some(each), None) = (self.weights, &self.source) {
            counted("Data::weights", "weights", each.len(), "row", self.raw.X.n)?;
            self.raw.weights = each.as_ptr();
        }
        let source = match self.source {
            Some(_) if self.weights.is_some() => {
                let expected = "expected RowSource::weighted, with the weights in a last column of its targets";
                return Err(invalid(format!("Data::weights: given beside a source, {expected}")));
            }
            Some(source) => source,
            None => return call(&self.raw),
        };
        let mut calls = sized!(mercer_row_source);
        calls.d = source.inputs() as i64;
        calls.m = source.targets() as i64;
        calls.weighted = source.weighted().into();
        calls.rewind = Some(rewind);
        calls.next = Some(next);
        calls.sum = if source.shared() { Some(sum) } else { None };
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

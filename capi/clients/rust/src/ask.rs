// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
//! What to predict.
use crate::{raw, sized, Error, Result};
use std::ptr::null;

/// What becomes of an input outside the range of the training rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Extrapolation {
    /// It is moved to the nearer end of its range, and predictions of a regression are limited, too.
    Clip = raw::MERCER_EXTRAPOLATION_CLIP as isize,
    Free = raw::MERCER_EXTRAPOLATION_FREE as isize,
    /// An error that names row, input and range.
    Refuse = raw::MERCER_EXTRAPOLATION_REFUSE as isize,
}

/// What a prediction met outside the range of the training rows.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Outside {
    /// Rows with some input outside.
    pub rows: i64,
    /// Such inputs, over all rows.
    pub values: i64,
    /// For each input the rows in which it was outside.
    pub inputs: Vec<i64>,
    /// Predictions that were limited to the range of the targets.
    pub limited: i64,
}

/// What to predict: a word of mercer/model.h (`"value".into()`), or one of these with its arguments.
pub struct Ask<'a> {
    pub(crate) what: &'a str,
    pub(crate) quantiles: &'a [f64],
    pub(crate) partials: &'a [i32],
    pub(crate) draws: usize,
    seed: u64,
    extrapolation: i32,
    outside: Option<&'a mut Outside>,
}
impl<'a> From<&'a str> for Ask<'a> {
    fn from(what: &'a str) -> Self {
        Ask { what, quantiles: &[], partials: &[], draws: 0, seed: 0, extrapolation: raw::MERCER_EXTRAPOLATION_DEFAULT, outside: None }
    }
}

impl<'a> Ask<'a> {
    /// For each output its quantiles at these levels, of a model `gp`.
    pub fn quantile(levels: &'a [f64]) -> Self {
        Ask { quantiles: levels, ..Ask::from("quantile") }
    }
    /// Derivatives, each by an order for every input, one after the other.
    pub fn partials(orders: &'a [i32]) -> Self {
        Ask { partials: orders, ..Ask::from("partials") }
    }
    /// So many functions of the posterior of a model `gp`, the same for the same seed.
    pub fn sample(draws: usize, seed: u64) -> Self {
        Ask { draws, seed, ..Ask::from("sample") }
    }
    /// In place of what the model was fitted with.
    pub fn extrapolation(self, extrapolation: Extrapolation) -> Self {
        Ask { extrapolation: extrapolation as i32, ..self }
    }
    /// Writes to `outside` what the prediction met outside the range of the training rows.
    pub fn outside(self, outside: &'a mut Outside) -> Self {
        Ask { outside: Some(outside), ..self }
    }

    /// For rows of d inputs. What is not asked for is NULL.
    pub(crate) fn options(&mut self, d: usize) -> Result<raw::mercer_predict_options> {
        if self.partials.len() % d != 0 {
            let text = format!("Ask::partials: {} orders, expected {d} for each partial, one for every input", self.partials.len());
            return Err(Error { status: raw::MERCER_DIMENSION_MISMATCH, text });
        }
        let mut options = sized!(mercer_predict_options);
        options.extrapolation = self.extrapolation;
        options.quantile_count = self.quantiles.len() as i64;
        options.quantiles = self.quantiles.first().map_or(null(), |_| self.quantiles.as_ptr());
        options.partial_count = (self.partials.len() / d) as i64;
        options.partials = self.partials.first().map_or(null(), |_| self.partials.as_ptr());
        options.sample_count = self.draws as i64;
        options.seed = self.seed;
        if let Some(outside) = self.outside.as_deref_mut() {
            outside.inputs = vec![0; d];
            options.rows_outside = &mut outside.rows;
            options.values_outside = &mut outside.values;
            options.inputs_outside = outside.inputs.as_mut_ptr();
            options.predictions_limited = &mut outside.limited;
        }
        Ok(options)
    }
}

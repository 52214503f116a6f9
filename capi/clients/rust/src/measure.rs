// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
use crate::{check, raw, rows, sized, Context, Map, Model, Number, Result, Rows};

impl Map {
    /// The frequencies of Fourier features in the order of their columns, `shape().frequencies` rows of as many numbers as there are inputs.
    pub fn frequencies(&self) -> Result<Vec<f64>> {
        let (count, d) = (self.shape().frequencies as usize, self.shape().inputs as usize);
        rows::written("Map::frequencies", count, d, |to| {
            check(unsafe { raw::mercer_map_frequencies(self.0, std::ptr::null_mut(), rows::matrix(to, count, d)) })
        })
    }
    /// The error of the kernel matrix of rows, ||ZZ' - K|| / ||K||: MERCER_KERNEL_ERROR_MEASURED of this map, or _PREDICTED over seeds.
    pub fn kernel_error<T: Number>(&self, x: Rows<T>, which: i32, context: Option<&Context>) -> Result<f64> {
        let mut error = 0.0;
        Context::run(context, |running| unsafe { raw::mercer_map_kernel_error(self.0, x.view(), which, running, &mut error) })?;
        Ok(error)
    }
    /// The variance of the estimate of k(x_i, y_i) for each row, of p outputs p p numbers.
    pub fn variance<T: Number>(&self, x: Rows<T>, y: Rows<T>, context: Option<&Context>) -> Result<Vec<f64>> {
        let (each, which) = (self.shape().outputs.pow(2) as usize, raw::MERCER_VARIANCE_ESTIMATE);
        rows::written("Map::variance", x.count(), each, |to| {
            Context::run(context, |running| unsafe { raw::mercer_map_variance(self.0, x.view(), y.view(), which, running, to) })
        })
    }
    /// The tangents of the features of a real map for tangents v of the rows x, n x d.
    pub fn jvp<T: Number>(&self, x: Rows<T>, v: Rows<T>, context: Option<&Context>) -> Result<Vec<T>> {
        let shape = self.shape();
        let sizes = (x.count() * shape.outputs as usize, shape.features as usize);
        self.product("Map::jvp", raw::MERCER_DERIVATIVE_JVP, x, v, sizes, context)
    }
    /// dL/dx, n x d, for g = dL/dZ.
    pub fn vjp<T: Number>(&self, x: Rows<T>, g: Rows<T>, context: Option<&Context>) -> Result<Vec<T>> {
        let sizes = (x.count(), self.shape().inputs as usize);
        self.product("Map::vjp", raw::MERCER_DERIVATIVE_VJP, x, g, sizes, context)
    }
    fn product<T: Number>(
        &self, name: &str, kind: i32, x: Rows<T>, v: Rows<T>, (n, m): (usize, usize), context: Option<&Context>,
    ) -> Result<Vec<T>> {
        let what = raw::mercer_derivative { kind, vectors: v.view(), ..sized!(mercer_derivative) };
        rows::written(name, n, m, |to| {
            Context::run(context, |running| unsafe { raw::mercer_map_derivative(self.0, x.view(), &what, running, rows::matrix(to, n, m)) })
        })
    }
}

impl Model {
    /// w, `shape().weight_rows` x outputs, and the intercept of a linear model (mercer_model_weights).
    pub fn weights(&self) -> Result<(Vec<f64>, Vec<f64>)> {
        let (n, m) = (self.shape().weight_rows as usize, self.shape().outputs as usize);
        let mut intercept = vec![0.0; m];
        let to = rows::matrix(intercept.as_mut_ptr(), 1, m);
        let w = rows::written("Model::weights", n, m, |w| check(unsafe { raw::mercer_model_weights(self.0, rows::matrix(w, n, m), to) }))?;
        Ok((w, intercept))
    }
}

/// How well predictions fit targets y: R2, or of classes (0: none) the accuracy; `metric` is another MERCER_METRIC of one number.
pub fn score<T: Number>(predictions: Rows<f64>, y: Rows<T>, classes: i64, metric: i32, context: Option<&Context>) -> Result<f64> {
    if metric == raw::MERCER_METRIC_CONFUSION {
        return Err(crate::invalid("score: metric = MERCER_METRIC_CONFUSION, expected one of one number".into()));
    }
    let (options, mut found) = (raw::mercer_score_options { metric, ..sized!(mercer_score_options) }, 0.0);
    Context::run(context, |running| unsafe {
        raw::mercer_prediction_score(predictions.view(), y.view(), classes, &options, running, &mut found)
    })?;
    Ok(found)
}

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
use crate::spec::Of;
use std::mem::zeroed;
use std::ptr::null_mut;
use crate::{c_string, check, raw, rows, sized, text, Ask, Context, Data, Map, Model, Number, Result, Rows};

impl Model {
    /// The model of a spec; `{}` searches whatever it leaves open. data: `(x, y)`, x of a model without targets, or `Data`.
    pub fn fit<'a>(spec: impl Of<Model>, data: impl Into<Data<'a>>, context: Option<&Context>) -> Result<Self> {
        let json = c_string("Model::fit: spec", &spec.json()?)?;
        data.into().with(|data| {
            Self::made(context, |running, out| unsafe { raw::mercer_model_fit(json.as_ptr(), data, running, out) })
        })
    }
    /// The model of its rows, if it was fitted with `{"keep":"sums"}`, and of these; `{"remove":true}` takes them away,
    /// `{"decay":0.9}` multiplies the weights of the rows before.
    pub fn update<'a>(&self, json: &str, data: impl Into<Data<'a>>, context: Option<&Context>) -> Result<Self> {
        let json = c_string("Model::update: json", json)?;
        data.into().with(|data| {
            Self::made(context, |running, out| unsafe { raw::mercer_model_update(self.0, json.as_ptr(), data, running, out) })
        })
    }
    /// For each row the numbers of "value", "class", "probability", `Ask::quantile(&[0.1, 0.9])`, ... (mercer/model.h).
    pub fn predict<'a, T: Number>(&self, x: Rows<T>, ask: impl Into<Ask<'a>>, context: Option<&Context>) -> Result<Vec<f64>> {
        let mut ask = ask.into();
        let (what, mut columns) = (c_string("Model::predict: what", ask.what)?, 0);
        let mut options = ask.options(self.shape().inputs as usize)?;
        options.columns = &mut columns;
        let call = |running, out| unsafe { raw::mercer_model_predict(self.0, x.view(), what.as_ptr(), &options, running, out) };
        check(call(null_mut(), unsafe { zeroed() }))?;
        let (count, columns) = (x.count(), columns as usize);
        rows::written("Model::predict", count, columns, |f| Context::run(context, |running| call(running, rows::matrix::<f64>(f, count, columns))))
    }
    /// "spec", "report", "norms" or "metadata".
    pub fn text(&self, what: &str) -> Result<String> {
        let what = c_string("Model::text: what", what)?;
        text(|buffer, capacity, needed| unsafe { raw::mercer_model_text(self.0, what.as_ptr(), buffer, capacity, needed) })
    }
    /// Keeps a text, such as the names of columns, with the model and its file.
    pub fn set_metadata(&mut self, text: &str) -> Result<()> {
        let text = c_string("Model::set_metadata: text", text)?;
        check(unsafe { raw::mercer_model_set_metadata(self.0, text.as_ptr()) })
    }
    /// Rows of the fit, inputs, outputs, features, classes, penalty, has_probabilities, ...
    pub fn shape(&self) -> raw::mercer_model_info {
        let mut info = sized!(mercer_model_info);
        unsafe { raw::mercer_model_shape(self.0, &mut info) };
        info
    }
    /// The model's map, whose inputs are not the model's own but what predict(x, "prepared") gives.
    pub fn map(&self) -> Result<Map> {
        Map::made(None, |_, out| unsafe { raw::mercer_model_map(self.0, out) })
    }
}

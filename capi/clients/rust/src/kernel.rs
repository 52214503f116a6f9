// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
use crate::spec::Of;
use crate::{c_string, raw, rows, text, Context, Kernel, Number, Result, Rows};

impl Kernel {
    /// From its spec, such as `{"kernel":"matern","lengthscale":2}`.
    pub fn new(spec: impl Of<Kernel>) -> Result<Self> {
        let json = c_string("Kernel::new: spec", &spec.json()?)?;
        Self::made(None, |_, out| unsafe { raw::mercer_kernel_from_spec(json.as_ptr(), out) })
    }
    pub fn spec(&self) -> Result<String> {
        text(|buffer, capacity, needed| unsafe { raw::mercer_kernel_spec(self.0, buffer, capacity, needed) })
    }
    /// K(x, y) of a kernel of one output, row after row.
    pub fn gram<T: Number, U: Number>(&self, x: Rows<T>, y: Rows<U>, context: Option<&Context>) -> Result<Vec<f64>> {
        rows::written("Kernel::gram", x.count(), y.count(), |k| {
            let out = rows::matrix(k, x.count(), y.count());
            Context::run(context, |running| unsafe {
                raw::mercer_kernel_gram(self.0, x.view(), y.view(), rows::absent(), running, out)
            })
        })
    }
}

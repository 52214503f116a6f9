// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
use crate::spec::Of;
use crate::{c_string, check, raw, rows, sized, text, Block, Context, Error, Kernel, Map, Number, Result, Rows};
use std::ptr::{null, null_mut};

/// Sparse features: row i has `values[p]` in column `indices[p]` for p from `offsets[i]` to `offsets[i + 1]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Csr {
    pub offsets: Vec<i64>,
    pub indices: Vec<i64>,
    pub values: Vec<f64>,
}

impl Map {
    /// From its spec, such as `{"kernel":{"kernel":"gaussian"},"inputs":3,"features":512}`.
    pub fn new(spec: impl Of<Map>) -> Result<Self> {
        let json = c_string("Map::new: spec", &spec.json()?)?;
        Self::made(None, |_, out| unsafe { raw::mercer_map_from_spec(json.as_ptr(), out) })
    }
    /// A map that is learnt from rows, such as `nystroem`, or from (rows, targets).
    pub fn fit<'a>(spec: impl Of<Map>, rows: impl Into<Block<'a>>, context: Option<&Context>) -> Result<Self> {
        let (json, block) = (c_string("Map::fit: spec", &spec.json()?)?, rows.into());
        let data = raw::mercer_map_data { X: block.x, Y: block.y, ..sized!(mercer_map_data) };
        Self::made(context, |running, out| unsafe { raw::mercer_map_fit(json.as_ptr(), &data, running, out) })
    }
    pub fn spec(&self) -> Result<String> {
        text(|buffer, capacity, needed| unsafe { raw::mercer_map_spec(self.0, buffer, capacity, needed) })
    }
    /// What it reads and writes: inputs, outputs, features, is_complex, ...
    pub fn shape(&self) -> raw::mercer_map_info {
        let mut info = sized!(mercer_map_info);
        unsafe { raw::mercer_map_shape(self.0, &mut info) };
        info
    }
    /// The kernel that its features estimate.
    pub fn kernel(&self) -> Result<Kernel> {
        Kernel::made(None, |_, out| unsafe { raw::mercer_map_kernel(self.0, out) })
    }
    /// The features of rows, of their precision, row after row; of a complex map re and im in turn.
    pub fn transform<T: Number>(&self, x: Rows<T>, context: Option<&Context>) -> Result<Vec<T>> {
        let shape = self.shape();
        let each = (shape.outputs * shape.features * (1 + i64::from(shape.is_complex))) as usize;
        rows::written("Map::transform", x.count(), each, |z| self.written(x, z, context))
    }
    /// The same into a slice of exactly as many numbers.
    pub fn transform_into<T: Number>(&self, x: Rows<T>, z: &mut [T], context: Option<&Context>) -> Result<()> {
        let shape = self.shape();
        let (rows, each) = (x.count() * shape.outputs as usize, shape.features as usize);
        let numbers = rows * each * (1 + shape.is_complex as usize);
        if z.len() != numbers {
            let text = format!("Map::transform_into: z has {} numbers, expected {numbers} for {rows} rows of {each} features", z.len());
            return Err(Error { status: raw::MERCER_DIMENSION_MISMATCH, text });
        }
        self.written(x, z.as_mut_ptr(), context)
    }
    fn written<T: Number>(&self, x: Rows<T>, z: *mut T, context: Option<&Context>) -> Result<()> {
        let shape = self.shape();
        let mut out = rows::matrix(z, x.count() * shape.outputs as usize, shape.features as usize);
        out.number += 2 * shape.is_complex; // C32 and C64 are two after F32 and F64
        Context::run(context, |running| unsafe { raw::mercer_map_transform(self.0, x.view(), null(), running, out) })
    }
    /// The features of a map whose rows have few non-zeros, such as `random_binning`.
    pub fn transform_csr<T: Number>(&self, x: Rows<T>, context: Option<&Context>) -> Result<Csr> {
        let mut needed = 0;
        check(unsafe { raw::mercer_map_transform_csr(self.0, x.view(), null_mut(), null_mut(), null_mut(), null_mut(), 0, &mut needed) })?;
        let count = needed as usize;
        let mut csr = Csr { offsets: vec![0; x.count() + 1], indices: vec![0; count], values: vec![0.0; count] };
        let (offsets, indices, values) = (csr.offsets.as_mut_ptr(), csr.indices.as_mut_ptr(), csr.values.as_mut_ptr());
        Context::run(context, |running| unsafe {
            raw::mercer_map_transform_csr(self.0, x.view(), running, offsets, indices, values, needed, null_mut())
        })?;
        Ok(csr)
    }
}

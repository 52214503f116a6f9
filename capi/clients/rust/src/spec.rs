// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
//! Specs by typed setters instead of JSON text: the keys of other entries, and values of other types, do not compile. What a key means,
//! its range and default: `mercer specs NAME`. The fits of `models` may leave out whatever they can choose, a map's inputs for one.
//!
//! ```
//! use mercer::{spec::{kernels, maps, Of}, Kernel, Map};
//! let matern = kernels::Matern::new().nu(1.5).lengthscale([2.0, 1.0, 0.5]);
//! let map = Map::new(maps::Fourier::new().kernel(matern).inputs(3).features(512))?;
//! # assert_eq!(map.shape().features, 512);
//! // A list of different kernels.
//! let parts: Vec<Box<dyn Of<Kernel>>> = vec![Box::new(kernels::Gaussian::new().lengthscale(2)), Box::new(kernels::Polynomial::new().degree(1))];
//! let sum = Kernel::new(kernels::Sum::new().parts(parts))?;
//! # assert!(sum.spec()?.contains("polynomial"));
//! # Ok::<(), mercer::Error>(())
//! ```
//! ```compile_fail
//! mercer::spec::kernels::Gaussian::new().nu(1.5);
//! ```
use crate::{invalid, Kernel, Map, Model, Result};

/// A value of a spec, or a whole one: of a [`Kernel`], [`Map`] or [`Model`] their builders, or JSON text.
pub trait Of<T: ?Sized> {
    fn json(&self) -> Result<String>;
}

/// A spec of how outputs are learnt together.
pub enum Outputs {}
/// A spec of how lambda is chosen.
pub enum Selection {}
/// A question to `mercer_bound`.
pub enum Bound {}
/// A spec of a test of rows.
pub enum Test {}
/// A number, or a list of them.
pub enum Numbers {}

impl Of<f64> for f64 {
    fn json(&self) -> Result<String> {
        let expected = || invalid(format!("{self}, expected a finite number"));
        self.is_finite().then(|| format!("{self:?}")).ok_or_else(expected)
    }
}
impl Of<str> for str {
    fn json(&self) -> Result<String> {
        let plain = |c: char| if c < ' ' || c == '"' || c == '\\' { format!("\\u{:04x}", c as u32) } else { c.into() };
        Ok(format!("\"{}\"", self.chars().map(plain).collect::<String>()))
    }
}
impl<T, V: Of<T>> Of<[T]> for [V] {
    fn json(&self) -> Result<String> {
        Ok(format!("[{}]", self.iter().map(V::json).collect::<Result<Vec<_>>>()?.join(",")))
    }
}
macro_rules! written {
    ($(($($generic:tt)*) $of:ty, $own:ty: $call:expr;)*) => { $(impl<$($generic)*> Of<$of> for $own {
        fn json(&self) -> Result<String> {
            $call(self)
        }
    })* };
}
written! {
    () i64, i32: plain; () i64, u32: plain; () i64, i64: plain; () i64, usize: plain; () u64, u64: plain; () bool, bool: plain;
    () Kernel, str: one_value; () Map, str: one_value; () Model, str: one_value;
    () Outputs, str: one_value; () Selection, str: one_value; () Test, str: one_value;
    () u64, u32: plain; () u64, usize: plain; () u64, i32: plain; () f64, i32: plain; () f64, u32: plain; () f64, f32: wide;
    () Numbers, f64: Of::<f64>::json; () Numbers, f32: wide; () Numbers, i32: plain; () Numbers, u32: plain;
    (V: Of<f64>) Numbers, [V]: Of::<[f64]>::json; (V: Of<f64>) Numbers, Vec<V>: |list: &Vec<V>| Of::<[f64]>::json(&list[..]);
    (V: Of<f64>, const N: usize) Numbers, [V; N]: |list: &[V; N]| Of::<[f64]>::json(&list[..]);
    (T, V: Of<T>) [T], Vec<V>: |list: &Vec<V>| Of::<[T]>::json(&list[..]);
    (T, V: Of<T>, const N: usize) [T], [V; N]: |list: &[V; N]| Of::<[T]>::json(&list[..]);
    (T: ?Sized, V: Of<T> + ?Sized) T, &V: |one: &&V| V::json(one); (T: ?Sized, V: Of<T> + ?Sized) T, Box<V>: |one: &Box<V>| V::json(one);
}
/// f32 as the f64 that it is: 0.1f32 is 0.10000000149011612.
fn wide(value: &f32) -> Result<String> {
    Of::<f64>::json(&f64::from(*value))
}
/// The text, if it is no more than one JSON value, so that it stays under its key.
fn one_value(text: &str) -> Result<String> {
    let (mut depth, mut quoted, mut escaped, mut one) = (0, false, false, true);
    for c in text.chars() {
        match c {
            _ if quoted => {
                quoted = c != '"' || escaped;
                escaped = c == '\\' && !escaped;
            }
            '"' => quoted = true,
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            _ => one &= depth > 0 || !matches!(c, ',' | ':'),
        }
        one &= depth >= 0;
    }
    let expected = || invalid(format!("{text}, expected one JSON object"));
    (one && !quoted && depth == 0).then(|| text.to_string()).ok_or_else(expected)
}
fn plain(value: &(impl ToString + ?Sized)) -> Result<String> {
    Ok(value.to_string())
}
impl<T: ?Sized> Of<T> for String
where
    str: Of<T>,
{
    fn json(&self) -> Result<String> {
        self.as_str().json()
    }
}

#[derive(Clone, Debug)]
struct Fields(Vec<(&'static str, Result<String>)>);

impl Fields {
    fn with(mut self, key: &'static str, value: Result<String>) -> Self {
        self.0.retain(|(other, _)| *other != key);
        self.0.push((key, value));
        self
    }
    fn json(&self) -> Result<String> {
        let written = |(key, value): &(&str, Result<String>)| match value {
            Ok(json) => Ok(format!("\"{key}\":{json}")),
            Err(error) => Err(invalid(format!("{key}: {error}"))),
        };
        Ok(format!("{{{}}}", self.0.iter().map(written).collect::<Result<Vec<_>>>()?.join(",")))
    }
}

macro_rules! entries {
    ($(#[$about:meta])* $module:ident $kind:ident $key:literal $common:tt $($(#[$help:meta])* $name:ident $text:literal $own:tt)*) => {
        $(#[$about])*
        pub mod $module {
            use super::*;
            $(entries! { $(#[$help])* $name $kind $key $text $common $own })*
        }
    };
    ($(#[$help:meta])* $name:ident $kind:ident $key:literal $text:literal {$($a:ident: $A:ty),*} {$($b:ident: $B:ty),*}) => {
        $(#[$help])*
        #[derive(Clone, Debug)]
        pub struct $name(Fields);
        impl $name {
            #[allow(clippy::new_without_default)]
            pub fn new() -> Self {
                $name(Fields(if $text == "" { vec![] } else { vec![($key, Of::<str>::json($text))] }))
            }
            $(pub fn $a(self, value: impl Of<$A>) -> Self {
                $name(self.0.with(stringify!($a), value.json()))
            })*
            $(pub fn $b(self, value: impl Of<$B>) -> Self {
                $name(self.0.with(stringify!($b), value.json()))
            })*
        }
        impl Of<$kind> for $name {
            fn json(&self) -> Result<String> {
                self.0.json()
            }
        }
    };
}

include!("entries.rs"); // what `mercer specs` lists

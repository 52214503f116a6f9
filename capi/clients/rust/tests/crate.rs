// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
//! Numbers of C to the bit, shapes, files, errors, progress, panics, threads.
use mercer::spec::{kernels, maps, models, others, selections, Of};
use mercer::{raw, Context, Kernel, Map, Model, Rows};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Barrier;

const SPEC: &str = r#"{"kernel":{"kernel":"gaussian","lengthscale":1},"inputs":3,"features":64,"seed":5}"#;

fn rows(n: usize) -> Vec<f64> {
    (0..3 * n).map(|i| (i as f64 * 0.7).sin()).collect()
}

#[test]
fn features_are_those_of_c() {
    let (x, map) = (rows(50), Map::new(SPEC).unwrap());
    let z = map.transform(Rows::new(&x, 3).unwrap(), None).unwrap();
    let mut by_c = vec![0.0; z.len()];
    unsafe { raw::mercer_map_apply_f64(map.as_raw(), 50, x.as_ptr(), 3, std::ptr::null_mut(), by_c.as_mut_ptr(), 64) };
    assert_eq!(z, by_c);
    assert_eq!(Map::from_bytes(&map.to_bytes().unwrap()).unwrap().transform(Rows::new(&x, 3).unwrap(), None).unwrap(), z);
    let single: Vec<f32> = x.iter().map(|&v| v as f32).collect();
    assert_eq!(map.transform(Rows::new(&single, 3).unwrap(), None).unwrap().len(), 50 * 64);
    let (offsets, indices): (Vec<i64>, Vec<i64>) = ((0..=50).map(|i| 3 * i).collect(), (0..150).map(|p| p % 3).collect());
    let sparse = map.transform(Rows::sparse(&x, &offsets, &indices, 3).unwrap(), None).unwrap();
    assert!(sparse.iter().zip(&z).all(|(a, b)| (a - b).abs() < 1e-12));
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(p, q)| p * q).sum()
}

#[test]
fn measures_and_products_of_maps() {
    let (x, map) = (rows(50), Map::new(SPEC).unwrap());
    let of = |x: &[f64]| map.transform(Rows::new(x, 3).unwrap(), None).unwrap();
    let (view, z, omega) = (Rows::new(&x, 3).unwrap(), of(&x), map.frequencies().unwrap());
    // Cosines of the frequencies, of which there are 32.
    assert!((0..32).all(|f| (z[f] - dot(&x[..3], &omega[3 * f..3 * f + 3]).cos() / 32f64.sqrt()).abs() < 1e-12));
    let (v, g): (Vec<f64>, Vec<f64>) = ((0..150).map(|i| (i as f64).cos()).collect(), (0..3200).map(|i| (i as f64 * 0.3).sin()).collect());
    let moved = |step: f64| of(&x.iter().zip(&v).map(|(a, b)| a + step * b).collect::<Vec<_>>());
    let tangents = map.jvp(Rows::new(&x, 3).unwrap(), Rows::new(&v, 3).unwrap(), None).unwrap();
    assert!(moved(1e-5).iter().zip(moved(-1e-5)).zip(&tangents).all(|((a, b), t)| ((a - b) / 2e-5 - t).abs() < 1e-8));
    let pulled = map.vjp(Rows::new(&x, 3).unwrap(), Rows::new(&g, 64).unwrap(), None).unwrap();
    assert!((dot(&tangents, &g) - dot(&pulled, &v)).abs() < 1e-9);
    // Of the rows with themselves an estimate of 1 by cosines and sines is exact.
    assert!(map.variance(Rows::new(&x, 3).unwrap(), Rows::new(&x, 3).unwrap(), None).unwrap().iter().all(|v| v.abs() < 1e-12));
    let kernel = mercer::Kernel::new(r#"{"kernel":"gaussian","lengthscale":1}"#).unwrap();
    let k = kernel.gram(Rows::new(&x, 3).unwrap(), Rows::new(&x, 3).unwrap(), None).unwrap();
    let off: f64 = (0..2500).map(|p| (dot(&z[p / 50 * 64..][..64], &z[p % 50 * 64..][..64]) - k[p]).powi(2)).sum();
    let measured = map.kernel_error(view, raw::MERCER_KERNEL_ERROR_MEASURED, None).unwrap();
    assert!((measured - (off / dot(&k, &k)).sqrt()).abs() < 1e-9);
}

#[test]
fn weights_and_scores_are_those_of_predictions() {
    let x = rows(200);
    let y: Vec<f64> = x.chunks(3).map(|row| row[0] * row[1]).collect();
    let model = Model::fit(r#"{"search":false,"precision":"f64","map":{"features":32}}"#, (Rows::new(&x, 3).unwrap(), Rows::new(&y, 1).unwrap()), None).unwrap();
    let (w, intercept) = model.weights().unwrap();
    let prepared = model.predict(Rows::new(&x, 3).unwrap(), "prepared", None).unwrap();
    let z = model.map().unwrap().transform(Rows::new(&prepared, 3).unwrap(), None).unwrap();
    let f = model.predict(Rows::new(&x, 3).unwrap(), "value", None).unwrap();
    assert!(f.iter().zip(z.chunks(32)).all(|(f, z)| (f - dot(z, &w) - intercept[0]).abs() < 1e-9));
    let by_hand = y.iter().zip(&f).map(|(y, f)| (y - f).abs()).sum::<f64>() / 200.0;
    let score = |metric| mercer::score(Rows::new(&f, 1).unwrap(), Rows::new(&y, 1).unwrap(), 0, metric, None);
    assert!((score(raw::MERCER_METRIC_MAE).unwrap() - by_hand).abs() < 1e-12 && score(raw::MERCER_METRIC_CONFUSION).is_err());
}

#[test]
fn shapes_and_arguments_are_refused() {
    let (x, map) = (rows(4), Map::new(SPEC).unwrap());
    assert!(Rows::new(&x, 5).is_err() && Rows::new(&x, 0).is_err());
    assert!(Map::new("a\0b").unwrap_err().text.contains(r#"Map::new: spec = "a\0b" has a NUL"#));
    let error = map.transform(Rows::new(&x, 2).unwrap(), None).unwrap_err();
    assert!(error.text.contains("mercer_map_transform") && error.status != raw::MERCER_OK);
    let short = map.transform_into(Rows::new(&x, 3).unwrap(), &mut [0.0; 7], None).unwrap_err();
    assert!(short.status == raw::MERCER_DIMENSION_MISMATCH && short.text.contains("expected 256"), "{short}");
    assert_eq!(Model::load("/absent/model").err().unwrap().status, raw::MERCER_IO);
}

fn failed<T>(result: mercer::Result<T>) -> mercer::Error {
    result.err().expect("an error")
}

#[test]
fn every_status_comes_with_its_text() {
    let (x, map) = (rows(200), Map::new(SPEC).unwrap());
    let fit = |json: &str, context: Option<&Context>| {
        let y: Vec<f64> = x.chunks(3).map(|row| f64::from(i32::from(row[0] > row[1]))).collect();
        Model::fit(json, (Rows::new(&x, 3)?, Rows::new(&y, 1)?), context)
    };
    let damaged = |at: usize| {
        let mut bytes = map.to_bytes().unwrap();
        bytes[at] ^= 64;
        failed(Map::from_bytes(&bytes))
    };
    let one_step = r#"{"model":"logistic","task":"classification","classes":2,"iterations":1,"tolerance":1e-12,"lambda":1e-8,"search":false,"map":{"features":32}}"#;
    let table = [
        (raw::MERCER_INVALID_ARGUMENT, "gausian", failed(Map::new(r#"{"kernel":{"kernel":"gausian"},"inputs":3,"features":8}"#))),
        (raw::MERCER_DIMENSION_MISMATCH, "mercer_map_transform", failed(map.transform(Rows::new(&x, 2).unwrap(), None))),
        (raw::MERCER_OUT_OF_MEMORY, "memory", failed(fit("{}", Some(&Context::new(0, 1000).unwrap())))),
        (raw::MERCER_UNSUPPORTED, "polynomial", failed(Map::new(r#"{"map":"fourier","kernel":{"kernel":"polynomial"},"inputs":3,"features":8}"#))),
        (raw::MERCER_NOT_POSITIVE_DEFINITE, "gamma", failed(Kernel::new(r#"{"kernel":"decomposable","gamma":[[1,2],[2,1]]}"#))),
        (raw::MERCER_NOT_CONVERGED, "lambda = 1e-08", failed(fit(one_step, None))),
        (raw::MERCER_IO, "absent", failed(Map::load("/absent/map"))),
        (raw::MERCER_CORRUPT_FILE, "mercer_map_read", damaged(40)),
        (raw::MERCER_NEWER_VERSION, "newer", damaged(8)),
        (raw::MERCER_CANCELLED, "mercer_model_fit", failed(fit("{}", Some(&Context::new(0, 0).unwrap().on_progress(|_, _| false))))),
    ];
    for (status, word, error) in &table {
        assert!(error.status == *status && error.text.contains(word), "{error:?}, expected {status} with {word}");
    }
}

#[test]
fn specs_are_built() {
    let x = rows(60);
    let y: Vec<f64> = x.chunks(3).map(|row| row[0] * row[1]).collect();
    let matern = kernels::Matern::new().nu(2.5).nu(0.1 + 0.2).lengthscale([2.0, 1.0, 0.5]);
    let sum = kernels::Sum::new().parts([&matern as &dyn Of<Kernel>, &r#"{"kernel":"polynomial","degree":1}"#]);
    let map = maps::Sum::new().kernel(&sum).inputs(3).features(64usize).seed(u64::MAX);
    let map = map.parts([&maps::Fourier::new().projection("orthogonal") as &dyn Of<Map>, &maps::Linear::new()]);
    let spec = Map::new(&map).unwrap().spec().unwrap();
    for part in ["\"nu\":0.30000000000000004,", "[2,1,0.5]", "\"seed\":\"18446744073709551615\"", "\"projection\":\"orthogonal\""] {
        assert!(spec.contains(part), "{spec}");
    }
    let model = models::Ridge::new().search(false).prepare(others::Prepare::new().transform("rank"));
    let model = model.map(maps::Auto::new().kernel(&matern).features(32)).select(selections::Folds::new().folds(4));
    let fitted = Model::fit(&model, (Rows::new(&x, 3).unwrap(), Rows::new(&y, 1).unwrap()), None).unwrap().text("spec").unwrap();
    assert!(fitted.contains(r#""nu":0.30000000000000004,"lengthscale":[2,1,0.5]"#) && fitted.contains("rank"), "{fitted}");
    Kernel::new(kernels::Decomposable::new().gamma([[1.0, 0.5], [0.5, 1.0]])).unwrap();
    let refused = failed(Map::new(map.kernel(kernels::Gaussian::new().lengthscale(vec![1.0, f64::NAN]))));
    assert_eq!((refused.status, &*refused.text), (raw::MERCER_INVALID_ARGUMENT, "kernel: lengthscale: NaN, expected a finite number"));
    for text in [r#"{"kernel":"gaussian"},"seed":7"#, r#"{"kernel":"gaussian""#, "{}}", r#"{"kernel":"gaussian\"}"#] {
        let refused = failed(Map::new(maps::Fourier::new().kernel(text).inputs(2).features(8)));
        assert!(refused.text.contains("expected one JSON object"), "{}", refused.text);
    }
    assert!(failed(Kernel::new(kernels::Anova::new().subsets("\"\n\\"))).text.contains("subsets = "));
}

#[test]
fn calls_are_cancelled_and_panics_go_on() {
    let x = rows(200);
    let y: Vec<f64> = x.chunks(3).map(|row| row[0] * row[1]).collect();
    let fit = |context: &Context| Model::fit("{}", (Rows::new(&x, 3).unwrap(), Rows::new(&y, 1).unwrap()), Some(context)).map(|_| ());
    let mut calls = 0;
    assert!(fit(&Context::new(1, 0).unwrap().on_progress(|_, _| { calls += 1; true })).is_ok());
    assert!(calls > 10);
    assert_eq!(fit(&Context::new(0, 0).unwrap().on_progress(|_, _| false)).unwrap_err().status, raw::MERCER_CANCELLED);
    assert_eq!(fit(&Context::new(0, 1000).unwrap()).unwrap_err().status, raw::MERCER_OUT_OF_MEMORY);
    let context = Context::new(0, 0).unwrap();
    context.canceller().cancel();
    assert_eq!(fit(&context).unwrap_err().status, raw::MERCER_CANCELLED);
    let panics = Context::new(0, 0).unwrap().on_progress(|_, _| panic!("of the callback"));
    let panic = catch_unwind(AssertUnwindSafe(|| fit(&panics))).unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"of the callback"));
}

#[test]
fn a_second_call_of_a_context_is_refused() {
    let x = rows(200);
    let fit = |context: &Context| Model::fit("{}", (Rows::new(&x, 3).unwrap(), Rows::new(&x[..200], 1).unwrap()), Some(context)).map(|_| ());
    let (begun, ended) = (Barrier::new(2), Barrier::new(2));
    let progress = |_, _| {
        begun.wait();
        ended.wait();
        panic!("of the first call")
    };
    let context = Context::new(1, 0).unwrap().on_progress(progress);
    std::thread::scope(|scope| {
        let first = scope.spawn(|| catch_unwind(AssertUnwindSafe(|| fit(&context))));
        begun.wait();
        let second = catch_unwind(AssertUnwindSafe(|| fit(&context)));
        ended.wait();
        assert!(second.unwrap().unwrap_err().text.contains("one call at a time"));
        assert_eq!(first.join().unwrap().unwrap_err().downcast_ref::<&str>(), Some(&"of the first call"));
    });
}

#[test]
fn many_threads_use_one_map() {
    let (x, map) = (rows(50), Map::new(SPEC).unwrap());
    let z = map.transform(Rows::new(&x, 3).unwrap(), None).unwrap();
    std::thread::scope(|scope| {
        for thread in 1..=64 {
            let (map, x, z) = (&map, &x, &z);
            scope.spawn(move || {
                assert_eq!(&map.transform(Rows::new(x, 3).unwrap(), None).unwrap(), z);
                let own = failed(Map::new(&format!(r#"{{"kernel":{{"kernel":"gaussian"}},"inputs":-{thread},"features":8}}"#)));
                assert!(own.text.contains(&format!("inputs = -{thread},")), "{own}");
            });
        }
    });
}

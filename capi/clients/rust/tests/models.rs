// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
//! What models learn from, what they predict, and tests of rows.
use mercer::{lengthscale_median, raw, rows_test, Ask, Block, Context, Data, Extrapolation, Kernel, Map, Model, Observations, Outside, RowSource, Rows, SourceError};
use std::panic::{catch_unwind, AssertUnwindSafe};

const FIXED: &str = r#"{"precision":"f64","search":false,"lambda":1e-3,"map":{"kernel":{"kernel":"gaussian","lengthscale":1},"features":64}}"#;
const MAP: &str = r#"{"kernel":{"kernel":"gaussian","lengthscale":1},"inputs":3,"features":64,"seed":5}"#;

/// n rows of 3, and a target of each.
fn made(n: usize) -> (Vec<f64>, Vec<f64>) {
    let x: Vec<f64> = (0..3 * n).map(|i| (i as f64 * (0.7 + (i % 3) as f64)).sin()).collect();
    let y = x.chunks(3).map(|row| row[0] + row[1] * row[2]).collect();
    (x, y)
}
fn rows(x: &[f64]) -> Rows<'_> {
    Rows::new(x, 3).unwrap()
}
fn column(y: &[f64]) -> Rows<'_> {
    Rows::new(y, 1).unwrap()
}
fn values(model: &Model, x: &[f64]) -> Vec<f64> {
    model.predict(rows(x), "value", None).unwrap()
}
fn apart(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}
fn failed<T>(result: mercer::Result<T>) -> mercer::Error {
    result.err().expect("an error")
}

#[test]
fn rows_of_weight_zero_are_left_out() {
    let (x, mut y) = made(200);
    let plain = Model::fit(FIXED, (rows(&x[..450]), column(&y[..150])), None).unwrap();
    y[150..].iter_mut().for_each(|y| *y += 10.0);
    let weights: Vec<f64> = (0..200).map(|i| f64::from(i32::from(i < 150))).collect();
    let weighted = Model::fit(FIXED, Data::from((rows(&x), column(&y))).weights(&weights), None).unwrap();
    assert!(apart(&values(&plain, &x), &values(&weighted, &x)) < 1e-6);
    assert!(apart(&values(&plain, &x), &values(&Model::fit(FIXED, (rows(&x), column(&y)), None).unwrap(), &x)) > 1.0);
    let few = failed(Model::fit(FIXED, Data::from((rows(&x), column(&y))).weights(&weights[1..]), None));
    assert!(few.status == raw::MERCER_DIMENSION_MISMATCH && few.text.contains("199 weights"), "{few}");
}

#[test]
fn rows_are_added_and_taken_away() {
    let (x, y) = made(150);
    let few = Model::fit(FIXED.replacen('{', r#"{"keep":"sums","#, 1).as_str(), (rows(&x[..300]), column(&y[..100])), None).unwrap();
    let rest = || (rows(&x[300..]), column(&y[100..]));
    let all = few.update("{}", rest(), None).unwrap();
    assert_eq!((few.shape().rows, all.shape().rows), (100, 150));
    assert!(apart(&values(&all, &x), &values(&few, &x)) > 1e-6);
    let again = all.update(r#"{"remove":true}"#, rest(), None).unwrap();
    assert_eq!(again.shape().rows, 100);
    assert!(apart(&values(&again, &x[..300]), &values(&few, &x[..300])) < 1e-6);
    let without = failed(Model::fit(FIXED, (rows(&x), column(&y)), None).unwrap().update("{}", rest(), None));
    assert!(without.text.contains("sums"), "{without}");
}

#[test]
fn groups_and_maps_are_given() {
    let (x, y) = made(100);
    let map = Map::new(MAP).unwrap();
    let model = Model::fit(r#"{"lambda":1e-3}"#, Data::from((rows(&x), column(&y))).map(&map), None).unwrap();
    let spec: String = model.map().unwrap().spec().unwrap();
    assert_eq!(spec, map.spec().unwrap());
    let z = map.transform(Rows::new(&model.predict(rows(&x), "prepared", None).unwrap(), 3).unwrap(), None).unwrap();
    assert_eq!((z.len(), model.shape().features, model.shape().rows), (6400, 64, 100));
    let one = failed(Model::fit("{}", Data::from((rows(&x), column(&y))).groups(&[7.0f32; 100]), None));
    assert!(one.text.contains("group"), "{one}");
    let groups: Vec<f64> = (0..100).map(|i| f64::from(i / 5)).collect();
    let split = r#"{"lambda":1e-3,"map":{"kernel":{"kernel":"gaussian","lengthscale":1},"features":32}}"#;
    let grouped = Model::fit(split, Data::from((rows(&x), column(&y))).groups(&groups), None).unwrap();
    assert!(grouped.text("report").unwrap().contains(r#""rows_are":"grouped""#));
}

/// Rows in memory, 17 at a time, which may be said to be those of two processes.
struct Blocks<'a> {
    x: &'a [f64],
    y: &'a [f64],
    at: usize,
    fault: &'a str,
    told: usize,
}
impl RowSource for Blocks<'_> {
    fn inputs(&self) -> usize { 3 }
    fn targets(&self) -> usize { 1 }
    fn rewind(&mut self) -> Result<(), SourceError> {
        self.at = 0;
        Ok(())
    }
    fn next(&mut self) -> Result<Option<Block<'_>>, SourceError> {
        let (begin, end) = (self.at, (self.at + 17).min(self.y.len()));
        self.at = end;
        match self.fault {
            "error" if begin > 0 => return Err("of the disk".into()),
            "panic" if begin > 0 => panic!("of the source"),
            "no rows" if begin > 0 => return Ok(Some((Rows::new(&self.x[..0], 3)?, Rows::new(&self.y[begin..end], 1)?).into())),
            _ if begin == end => return Ok(None),
            _ => {}
        }
        Ok(Some((Rows::new(&self.x[3 * begin..3 * end], 3)?, Rows::new(&self.y[begin..end], 1)?).into()))
    }
    fn shared(&self) -> bool { !["", "no rows"].contains(&self.fault) }
    fn sum(&mut self, numbers: &mut [f64]) -> Result<(), SourceError> {
        numbers.iter_mut().for_each(|number| *number *= 2.0); // the other process has equal rows, and learns of faults
        self.told += 1;
        Ok(())
    }
}

#[test]
fn a_source_is_read() {
    let (x, y) = made(200);
    let (map, spec) = (Map::new(MAP).unwrap(), r#"{"precision":"f64","search":false,"lambda":1e-3}"#);
    let fit = |fault| {
        let mut source = Blocks { x: &x, y: &y, at: 0, fault, told: 0 };
        let result = Model::fit(spec, Data::source(&mut source).map(&map), None);
        assert!(fault != "error" || source.told > 1, "{}", source.told);
        result
    };
    let memory = Model::fit(spec, Data::from((rows(&x), column(&y))).map(&map), None).unwrap();
    // Sums of n terms in another order differ by n 2^-52 of them, the inverse is at most 1/lambda, weights |y|/(2 sqrt lambda).
    let rounding = 4.0 * 200.0 * f64::EPSILON * 2.0 / 1e-3f64.powf(1.5);
    let shared = fit("two processes").unwrap(); // twice the rows, and the same model
    assert!(apart(&values(&fit("").unwrap(), &x), &values(&memory, &x)) < rounding && apart(&values(&shared, &x), &values(&memory, &x)) < rounding);
    assert_eq!((memory.shape().rows, shared.shape().rows), (200, 400));
    let dropped = failed(fit("no rows"));
    assert!(dropped.text.contains("source->next.n = 17"), "{dropped}");
    let error = failed(fit("error"));
    assert!(error.status == raw::MERCER_IO && error.text.contains("of the disk"), "{error}");
    let mut source = Blocks { x: &x, y: &y, at: 0, fault: "", told: 0 };
    let weighted = failed(Model::fit(spec, Data::source(&mut source).weights(&y).map(&map), None));
    assert!(weighted.text.contains("RowSource::weighted"), "{weighted}");
    let few = failed(Model::fit(spec, Data::from((rows(&x), column(&y))).groups::<f64>(&[]), None));
    assert!(few.status == raw::MERCER_DIMENSION_MISMATCH && few.text.contains("groups"), "{few}");
    let panic = catch_unwind(AssertUnwindSafe(|| fit("panic"))).err().expect("a panic");
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"of the source"));
}

#[test]
fn slopes_are_learnt_from() {
    let (x, y) = made(60); // y = x_0 + x_1 x_2
    let (some, map) = (rows(&x[..60]), Map::new(MAP).unwrap());
    let slopes: Vec<f64> = x[..60].chunks(3).map(|row| row[2]).collect();
    let values_of = Observations::new((some, column(&y[..20])), &[]).unwrap();
    let slopes_of = Observations::new((some, column(&slopes)), &[0, 1, 0]).unwrap().weight(2.0).row_weights(&[1.0; 20]).unwrap();
    let worst = |sets: &[Observations]| {
        let model = Model::fit(r#"{"lambda":1e-8}"#, Data::sets(sets).map(&map), None).unwrap();
        let gradient = model.predict(some, "gradient", None).unwrap();
        gradient.chunks(3).zip(&slopes).map(|(g, slope)| (g[1] - slope).abs()).fold(0.0, f64::max)
    };
    assert!(worst(&[values_of, slopes_of]) < 0.05 && worst(&[values_of]) > 0.1);
    assert!(failed(Observations::new((some, column(&y[..20])), &[0, 1])).text.contains("2 orders"));
    assert!(failed(values_of.row_weights(&[1.0])).text.contains("1 weights"));
}

#[test]
fn every_prediction_has_its_columns() {
    let (x, y) = made(120);
    let two: Vec<f64> = y.iter().flat_map(|&y| [y, -y]).collect();
    let gp = r#"{"model":"gp","precision":"f64","search":false,"lambda":1e-2,"map":{"kernel":{"kernel":"gaussian","lengthscale":1},"features":64}}"#;
    let model = Model::fit(gp, (rows(&x), Rows::new(&two, 2).unwrap()), None).unwrap();
    let x = rows(&x[..90]);
    let numbers = |ask: Ask| model.predict(x, ask, None).unwrap();
    for (what, columns) in [("value", 2), ("latent_variance", 2), ("predictive_variance", 2), ("prepared", 3), ("gradient", 6), ("laplacian", 2),
        ("gradient_variance", 6), ("hessian_diagonal", 6), ("covariance", 4), ("joint_covariance", 120)] {
        assert_eq!(numbers(what.into()).len(), 30 * columns, "{what}");
    }
    let (f, q) = (numbers("value".into()), numbers(Ask::quantile(&[0.1, 0.5, 0.9])));
    for (f, q) in f.chunks(2).zip(q.chunks(6)) {
        let about = |f: f64, q: &[f64]| q[0] < f && (q[1] - f).abs() < 1e-9 && f < q[2];
        assert!(about(f[0], &q[..3]) && about(f[1], &q[3..]), "{q:?} about {f:?}");
    }
    assert_eq!(numbers(Ask::sample(4, 1)).len(), 30 * 8);
    assert_eq!(numbers(Ask::sample(4, 1)), numbers(Ask::sample(4, 1)));
    assert_ne!(numbers(Ask::sample(4, 1)), numbers(Ask::sample(4, 2)));
    let (partials, gradient) = (numbers(Ask::partials(&[1, 0, 0, 0, 0, 1])), numbers("gradient".into()));
    for (p, g) in partials.chunks(4).zip(gradient.chunks(6)) {
        assert!(apart(p, &[g[0], g[1], g[4], g[5]]) < 1e-9);
    }
    for (ask, word) in [(Ask::partials(&[1]), "orders"), (Ask::quantile(&[]), "quantile"), ("clas".into(), "value"), (Ask::sample(usize::MAX / 2, 1), "samples")] {
        let error = failed(model.predict(x, ask, None));
        assert!(error.text.contains(word), "{error}");
    }
}

#[test]
fn fields_and_classes_have_their_columns() {
    let (x, y) = made(100);
    let gradient: Vec<f64> = x.chunks(3).flat_map(|row| [row[0], row[2], row[1]]).collect();
    let spec = r#"{"search":false,"lambda":1e-3,"prepare":{"scale":"common"},"map":{"kernel":{"kernel":"curl_free","scalar":{"kernel":"gaussian","lengthscale":1}},"features":60}}"#;
    let field = Model::fit(spec, (rows(&x), Rows::new(&gradient, 3).unwrap()), None).unwrap();
    for (what, columns) in [("value", 3), ("curl", 3), ("divergence", 1), ("potential", 1)] {
        assert_eq!(field.predict(rows(&x), what, None).unwrap().len(), 100 * columns, "{what}");
    }
    let classes: Vec<f64> = y.iter().map(|&y| f64::from(i32::from(y > 0.0))).collect();
    let spec = r#"{"task":"classification","classes":2,"search":false,"lambda":1e-3,"map":{"features":64}}"#;
    let model = Model::fit(spec, (rows(&x), column(&classes)), None).unwrap();
    let (scores, chosen) = (values(&model, &x), model.predict(rows(&x), "class", None).unwrap());
    for (scores, class) in scores.chunks(2).zip(&chosen) {
        assert_eq!(*class, f64::from(i32::from(scores[1] > scores[0])));
    }
    assert_eq!((model.shape().classes, chosen.len()), (2, 100));
}

#[test]
fn inputs_outside_are_counted_and_refused() {
    let (x, y) = made(100);
    let model = Model::fit(FIXED, (rows(&x), column(&y)), None).unwrap();
    let far = [0.0, 0.0, 0.0, 0.0, 5.0, 0.0, 7.0, 0.0, -5.0];
    let mut met = Outside::default();
    let clipped = model.predict(rows(&far), Ask::from("value").extrapolation(Extrapolation::Clip).outside(&mut met), None).unwrap();
    assert_eq!((met.rows, met.values, &met.inputs[..]), (2, 3, &[1, 1, 1][..]));
    let free = model.predict(rows(&far), Ask::from("value").extrapolation(Extrapolation::Free), None).unwrap();
    assert!(clipped[0] == free[0] && clipped[1] != free[1]);
    let refused = failed(model.predict(rows(&far), Ask::from("value").extrapolation(Extrapolation::Refuse), None));
    assert!(refused.status == raw::MERCER_INVALID_ARGUMENT && refused.text.contains("row 1"), "{refused}");
}

#[test]
fn trials_are_told() {
    let (x, y) = made(150);
    let mut told = Vec::new();
    let context = Context::new(0, 0).unwrap().on_trial(|json| told.push(json.to_string()));
    let search = r#"{"map":{"kernel":{"kernel":"gaussian"},"features":32}}"#;
    let model = Model::fit(search, (rows(&x), column(&y)), Some(&context)).unwrap();
    drop(context);
    let report = model.text("report").unwrap();
    assert!(told.len() > 3 && told.iter().all(|json| json.contains(r#""seconds":"#)), "{} trials", told.len());
    assert_eq!(told.iter().filter(|json| json.contains(r#""stage":"final""#)).count(), report.matches(r#""stage":"final""#).count());
    let panics = Context::new(0, 0).unwrap().on_trial(|_| panic!("of a trial"));
    let panic = catch_unwind(AssertUnwindSafe(|| Model::fit(search, (rows(&x), column(&y)), Some(&panics)))).err().expect("a panic");
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"of a trial"));
}

#[test]
fn rows_are_tested() {
    let (x, _) = made(300);
    let p_value = |y: Rows, spec: &str| -> f64 {
        let answer = rows_test(spec, rows(&x[..450]), y, None).unwrap();
        answer.split(r#""p_value":"#).nth(1).unwrap().split(&[',', '}'][..]).next().unwrap().trim().parse().unwrap()
    };
    let far: Vec<f64> = x[450..].iter().map(|x| x + 2.0).collect();
    let mmd = r#"{"test":"mmd","features":128}"#;
    assert!(p_value(rows(&far), mmd) < 0.02 && p_value(rows(&x[..450]), mmd) > 0.5);
    let (offsets, indices): (Vec<i64>, Vec<i64>) = ((0..=150).map(|i| 3 * i).collect(), (0..450).map(|p| p % 3).collect());
    assert_eq!(p_value(Rows::sparse(&far, &offsets, &indices, 3).unwrap(), mmd), p_value(rows(&far), mmd));
    let long = rows_test(r#"{"test":"mmd","features":16,"witnesses":900}"#, rows(&made(900).0), rows(&made(950).0), None).unwrap();
    assert!(long.len() > 1 << 15 && long.ends_with('}'), "{} bytes", long.len()); // more than is asked for at first
    assert!(failed(rows_test(r#"{"test":"mdm"}"#, rows(&x), rows(&x), None)).text.contains("mdm"));
    let median = lengthscale_median(Rows::new(&[0.0, 1.0, 5.0], 1).unwrap(), 100, 0, None).unwrap();
    assert_eq!(median, 4.0); // of 1, 4 and 5
}

#[test]
fn sparse_features_texts_and_landmarks() {
    let (x, y) = made(60);
    let bins = Map::new(r#"{"map":"random_binning","kernel":{"kernel":"laplacian"},"inputs":3,"features":256,"seed":1}"#).unwrap();
    let (dense, csr) = (bins.transform(rows(&x), None).unwrap(), bins.transform_csr(rows(&x), None).unwrap());
    let mut filled = vec![0.0; dense.len()];
    for i in 0..60 {
        (csr.offsets[i]..csr.offsets[i + 1]).for_each(|p| filled[256 * i + csr.indices[p as usize] as usize] += csr.values[p as usize]);
    }
    assert!(apart(&filled, &dense) < 1e-12 && csr.values.len() < dense.len() / 2);
    let kernel = Kernel::new(r#"{"kernel":"matern","lengthscale":2}"#).unwrap();
    assert_eq!(Kernel::new(&kernel.spec().unwrap()).unwrap().spec().unwrap(), kernel.spec().unwrap());
    let landmarks = r#"{"map":"nystroem","kernel":{"kernel":"gaussian"},"inputs":3,"features":20}"#;
    assert_eq!(Map::fit(landmarks, rows(&x), None).unwrap().shape().features, 20);
    assert!(Map::fit(landmarks, (rows(&x), column(&y)), None).is_err()); // it does not learn from targets
    let mut model = Model::fit(FIXED, (rows(&x), column(&y)), None).unwrap();
    model.set_metadata("three inputs").unwrap();
    let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!((again.text("metadata").unwrap().as_str(), values(&again, &x)), ("three inputs", values(&model, &x)));
}

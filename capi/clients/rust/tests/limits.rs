// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
//! Results that memory does not hold, what panics leave, requests that are withdrawn, and what types can do.
use mercer::spec::{kernels, maps, Of};
use mercer::{raw, Ask, Block, Context, Kernel, Map, Model, Observations, Rows};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::Path;

const SMALL: &str = r#""search":false,"map":{"features":32}}"#;

fn made(n: usize) -> Vec<f64> {
    (0..3 * n).map(|i| (i as f64 * (0.7 + (i % 3) as f64)).sin()).collect()
}
fn fitted(model: &str, context: Option<&Context>) -> mercer::Result<Model> {
    let x = made(60);
    Model::fit(&format!("{{{model}{SMALL}"), (Rows::new(&x, 3)?, Rows::new(&x[..60], 1)?), context)
}

#[test]
fn what_memory_does_not_hold_is_refused() {
    let x = made(60);
    let x = Rows::new(&x, 3).unwrap();
    let gp = fitted(r#""model":"gp","#, None).unwrap();
    let error = gp.predict(x, Ask::sample(1 << 40, 1), None).unwrap_err(); // more than there are addresses
    assert!(error.name() == "MERCER_OUT_OF_MEMORY" && error.text.contains("60 x 1099511627776"), "{error}");
    let other = fitted("", None).unwrap().predict(x, Ask::sample(1 << 50, 1), None).unwrap_err();
    assert!(other.status == raw::MERCER_UNSUPPORTED && other.text.contains("sample"), "{other}");
}

/// Megabytes that the process has.
fn resident() -> f64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<f64>().unwrap() * 4096.0 / 1e6
}

#[test]
fn a_panic_of_the_last_progress_leaks_nothing() {
    let x = made(1000);
    let spec = r#"{"map":"nystroem","kernel":{"kernel":"laplacian","lengthscale":0.1},"inputs":3,"features":600}"#;
    let fit = |context: &Context| Map::fit(spec, Rows::new(&x, 3).unwrap(), Some(context));
    let each = fit(&Context::new(0, 0).unwrap()).unwrap().to_bytes().unwrap().len() as f64 / 1e6;
    let context = Context::new(0, 0).unwrap().on_progress(|done, total| if done == total { panic!("of the end") } else { true });
    let mut before = 0.0;
    for i in 0..14 {
        let panic = catch_unwind(AssertUnwindSafe(|| fit(&context))).unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"of the end"));
        before = if i == 3 { resident() } else { before };
    }
    assert!(resident() - before < 8.0 * each, "{} MB more, a map has {each}", resident() - before);
}

#[test]
fn a_cancel_is_withdrawn() {
    let context = Context::new(0, 0).unwrap();
    context.canceller().cancel();
    context.canceller().withdraw();
    fitted("", Some(&context)).unwrap();
    context.canceller().cancel();
    assert_eq!(fitted("", Some(&context)).unwrap_err().name(), "MERCER_CANCELLED");
}

#[test]
fn types_are_shared_shown_and_converted() {
    fn shared<T: Send + Sync + std::fmt::Debug>() {}
    shared::<(Rows<f32>, Rows, Block, Observations, Map, Model, Kernel)>();
    fn shown<T: std::fmt::Debug>(_: &T) {}
    shown(&Context::new(0, 0).unwrap());
    let map = maps::Fourier::new().kernel(kernels::Matern::new().nu(1.5f32).lengthscale([2, 1, 1])).inputs(3).features(8).seed(7u32);
    let path = std::env::temp_dir().join(format!("mercer_{}.map", std::process::id()));
    Map::new(&map).unwrap().save(&path).unwrap();
    let spec = Map::load(&path as &Path).unwrap().spec().unwrap();
    std::fs::remove_file(path).unwrap();
    assert!(spec.contains(r#""nu":1.5,"lengthscale":[2,1,1]"#) && spec.contains(r#""seed":7,"#), "{spec}");
    assert_eq!(spec, Map::new(map.seed(7usize).seed(7)).unwrap().spec().unwrap());
    assert!(Map::new(maps::Fourier::new().kernel(kernels::Gaussian::new()).inputs(3).features(8).seed(-7)).unwrap_err().text.contains("seed"));
    let parts: Vec<Box<dyn Of<Kernel>>> = vec![Box::new(kernels::Gaussian::new().lengthscale(2)), Box::new(kernels::Laplacian::new().lengthscale(0.5f32))];
    assert!(Kernel::new(kernels::Sum::new().parts(parts)).unwrap().spec().unwrap().contains("laplacian"));
    assert!(Rows::new(&[1.0], 0).unwrap_err().text.contains("Rows::new: 1 numbers of rows of d = 0"));
    assert!(Rows::sparse(&[1.0], &[], &[0], 3).unwrap_err().text.contains("Rows::sparse: 0 offsets"));
}

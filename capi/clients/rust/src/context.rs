// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
//! How calls run: threads, memory, progress, cancellation.
use crate::{check, invalid, raw, sized, Result};
use std::any::Any;
use std::ffi::CStr;
use std::os::raw::{c_char, c_void};
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

#[derive(Debug)]
struct Handle(*mut raw::mercer_context);
// A context serves one call at a time, which the library checks; cancel may come from any thread.
unsafe impl Send for Handle {}
unsafe impl Sync for Handle {}
impl Drop for Handle {
    fn drop(&mut self) {
        unsafe { raw::mercer_context_free(self.0) }
    }
}

/// What the library's callbacks reach.
#[derive(Default)]
struct Watch<'a> {
    progress: Option<Box<dyn FnMut(i64, i64) -> bool + Send + 'a>>,
    trial: Option<Box<dyn FnMut(&str) + Send + 'a>>,
    panic: Option<Box<dyn Any + Send>>,
}

/// Limits the calls that are given it and reports their progress. It serves one call at a time.
pub struct Context<'a> {
    handle: Arc<Handle>,
    watch: Arc<Mutex<Watch<'a>>>,
    busy: AtomicBool,
}

impl std::fmt::Debug for Context<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter) -> std::fmt::Result {
        out.debug_tuple("Context").field(&self.handle.0).finish()
    }
}

/// Ends the call that runs with a context, from any thread; it may outlive the context.
#[derive(Clone, Debug)]
pub struct Canceller(Arc<Handle>);

impl Canceller {
    /// Ends the running call soon; where none runs, as after one that ended meanwhile, the next one, unless `withdraw` is called before.
    pub fn cancel(&self) {
        unsafe { raw::mercer_context_cancel(self.0 .0, 1) };
    }
    /// Takes back a `cancel` that no call has answered, as before a new task.
    pub fn withdraw(&self) {
        unsafe { raw::mercer_context_cancel(self.0 .0, 0) };
    }
}

/// Nothing may unwind through C: a panic is kept here, the call is ended when it next reports progress, and `run` resumes the panic.
unsafe fn guarded(user: *mut c_void, call: impl FnOnce(&mut Watch) -> bool) -> i32 {
    let mut watch = match (*(user as *const Mutex<Watch>)).lock() {
        Ok(watch) => watch,
        Err(_) => return 1,
    };
    match catch_unwind(AssertUnwindSafe(|| call(&mut watch))) {
        Ok(go_on) => i32::from(!go_on || watch.panic.is_some()),
        Err(panic) => {
            watch.panic = Some(panic);
            1
        }
    }
}
unsafe extern "C" fn report(user: *mut c_void, done: i64, total: i64) -> i32 {
    guarded(user, |watch| watch.panic.is_some() || watch.progress.as_mut().map_or(true, |progress| progress(done, total)))
}
unsafe extern "C" fn tell(user: *mut c_void, json: *const c_char) {
    guarded(user, |watch| {
        if let (Some(trial), None) = (watch.trial.as_mut(), &watch.panic) {
            trial(&CStr::from_ptr(json).to_string_lossy());
        }
        true
    });
}

impl<'a> Context<'a> {
    /// threads 0: all cores; memory_cap, bytes, 0: none.
    pub fn new(threads: i32, memory_cap: i64) -> Result<Self> {
        let watch = Arc::<Mutex<Watch>>::default();
        let mut options = sized!(mercer_context_options);
        options.threads = threads;
        options.memory_cap = memory_cap;
        options.progress = Some(report);
        options.trial = Some(tell);
        options.user = Arc::as_ptr(&watch) as *mut c_void;
        let mut handle = null_mut();
        check(unsafe { raw::mercer_context_create(&options, &mut handle) })?;
        Ok(Context { handle: Arc::new(Handle(handle)), watch, busy: AtomicBool::new(false) })
    }

    /// progress(done, total) is called now and then on the calling thread; false ends the call. It must not use the kernel, map or model
    /// of that call, which may be locked.
    pub fn on_progress(self, progress: impl FnMut(i64, i64) -> bool + Send + 'a) -> Self {
        if let Ok(mut watch) = self.watch.lock() {
            watch.progress = Some(Box::new(progress));
        }
        self
    }

    /// trial(json) is called for each finished trial of a search: an object as in "trials" of the report.
    pub fn on_trial(self, trial: impl FnMut(&str) + Send + 'a) -> Self {
        if let Ok(mut watch) = self.watch.lock() {
            watch.trial = Some(Box::new(trial));
        }
        self
    }

    pub fn canceller(&self) -> Canceller {
        Canceller(self.handle.clone())
    }

    /// The handle of C, for functions of `raw`; it stays this object's.
    pub fn as_raw(&self) -> *mut raw::mercer_context {
        self.handle.0
    }

    /// Calls with the context's handle, or none, and resumes a panic of its callbacks; what the call makes is to be owned by then.
    pub(crate) fn run(context: Option<&Context>, call: impl FnOnce(*mut raw::mercer_context) -> i32) -> Result<()> {
        let context = match context {
            Some(context) => context,
            None => return check(call(null_mut())),
        };
        // Refused before anything of the running call is touched: its lock, its panic.
        if context.busy.swap(true, Ordering::Acquire) {
            return Err(invalid("mercer::Context: context is used by another call, expected one call at a time".into()));
        }
        let result = check(call(context.handle.0));
        let panic = context.watch.lock().ok().and_then(|mut watch| watch.panic.take());
        context.busy.store(false, Ordering::Release);
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
        result
    }
}

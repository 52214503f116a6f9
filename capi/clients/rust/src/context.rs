// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors
//! How calls run: threads, memory, progress, cancellation.
use crate::{check, invalid, raw, Result};
use std::any::Any;
use std::mem::{size_of, zeroed};
use std::os::raw::c_void;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

struct Handle(*mut raw::mercer_context);
// A context serves one call at a time, which the library checks; cancel may come from any thread.
unsafe impl Send for Handle {}
unsafe impl Sync for Handle {}
impl Drop for Handle {
    fn drop(&mut self) {
        unsafe { raw::mercer_context_free(self.0) }
    }
}

/// What the library's callback reaches.
struct Watch<'a> {
    progress: Box<dyn FnMut(i64, i64) -> bool + Send + 'a>,
    panic: Option<Box<dyn Any + Send>>,
}

/// Limits and progress of the calls that are given it, one at a time.
pub struct Context<'a> {
    handle: Arc<Handle>,
    watch: Option<Box<Mutex<Watch<'a>>>>,
    busy: AtomicBool,
}

/// Ends the call that runs with a context, from any thread; it may outlive the context.
#[derive(Clone)]
pub struct Canceller(Arc<Handle>);

impl Canceller {
    pub fn cancel(&self) {
        unsafe { raw::mercer_context_cancel(self.0 .0, 1) };
    }
}

/// Nothing may unwind through C: a panic is kept, ends the call and goes on after it.
unsafe extern "C" fn report(user: *mut c_void, done: i64, total: i64) -> i32 {
    let mut watch = match (*(user as *const Mutex<Watch>)).lock() {
        Ok(watch) => watch,
        Err(_) => return 1,
    };
    match catch_unwind(AssertUnwindSafe(|| (watch.progress)(done, total))) {
        Ok(go_on) => i32::from(!go_on),
        Err(panic) => {
            watch.panic = Some(panic);
            1
        }
    }
}

impl<'a> Context<'a> {
    /// threads 0: all cores; memory_cap, bytes, 0: none.
    pub fn new(threads: i32, memory_cap: i64) -> Result<Self> {
        Self::made(threads, memory_cap, None)
    }

    /// With progress(done, total), called now and then on the calling thread; false ends the call.
    pub fn with_progress(threads: i32, memory_cap: i64, progress: impl FnMut(i64, i64) -> bool + Send + 'a) -> Result<Self> {
        Self::made(threads, memory_cap, Some(Box::new(Mutex::new(Watch { progress: Box::new(progress), panic: None }))))
    }

    pub fn canceller(&self) -> Canceller {
        Canceller(self.handle.clone())
    }

    /// The handle of C, for functions of `raw`; it stays this object's.
    pub fn as_raw(&self) -> *mut raw::mercer_context {
        self.handle.0
    }

    fn made(threads: i32, memory_cap: i64, watch: Option<Box<Mutex<Watch<'a>>>>) -> Result<Self> {
        let mut options: raw::mercer_context_options = unsafe { zeroed() };
        options.struct_size = size_of::<raw::mercer_context_options>() as u32;
        options.threads = threads;
        options.memory_cap = memory_cap;
        if let Some(watch) = &watch {
            options.progress = Some(report);
            options.user = &**watch as *const Mutex<Watch> as *mut c_void;
        }
        let mut handle = null_mut();
        check(unsafe { raw::mercer_context_create(&options, &mut handle) })?;
        Ok(Context { handle: Arc::new(Handle(handle)), watch, busy: AtomicBool::new(false) })
    }

    /// Calls with the context's handle, or none; a panic of its callback goes on here.
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
        let panic = context.watch.as_ref().and_then(|watch| watch.lock().ok().and_then(|mut watch| watch.panic.take()));
        context.busy.store(false, Ordering::Release);
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
        result
    }
}

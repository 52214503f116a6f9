// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors

package mercer

// #include "calls.h"
import "C"

import (
	"runtime"
	"runtime/cgo"
	"sync/atomic"
	"unsafe"
)

// Options of a context; zeros are the defaults.
type Options struct {
	Threads   int   // of the library's own loops; 0: all
	MemoryCap int64 // bytes that a call may allocate; 0: no cap
	// Progress is called now and then on the calling goroutine; false ends the call.
	Progress func(done, total int64) bool
	// Trial is called for each finished trial of a search, with an object as in "trials" of the report.
	Trial func(json string)
}

// Context has the limits and the progress of the calls that are given it, one at a time.
type Context struct {
	handle   *C.mercer_context
	user     *C.uintptr_t // a cgo.Handle in memory of C
	options  Options
	panicked any
	busy     atomic.Bool
}

// NewContext makes a context.
func NewContext(options Options) (*Context, error) {
	c := &Context{options: options}
	if options.Progress != nil || options.Trial != nil {
		c.user = (*C.uintptr_t)(C.calloc(1, C.sizeof_uintptr_t))
	}
	err := check(func() C.mercer_status {
		return C.go_context(C.int32_t(options.Threads), C.int64_t(options.MemoryCap), c.user, &c.handle)
	})
	if err != nil {
		C.free(unsafe.Pointer(c.user))
		return nil, err
	}
	runtime.SetFinalizer(c, (*Context).Close)
	return c, nil
}

// Close frees the context, which no call may be using.
func (c *Context) Close() {
	C.mercer_context_free(c.handle)
	C.free(unsafe.Pointer(c.user))
	c.handle, c.user = nil, nil
}

// Cancel ends the running call soon, or the next one, from any goroutine.
func (c *Context) Cancel() { C.mercer_context_cancel(c.handle, 1); runtime.KeepAlive(c) }

// guarded runs a callback unless one has panicked. Nothing may unwind through C: a panic is kept, ends the call at its next progress
// and goes on after it.
func (c *Context) guarded(call func() bool) (cancel C.int32_t) {
	defer func() {
		if panicked := recover(); panicked != nil {
			c.panicked, cancel = panicked, 1
		}
	}()
	if c.panicked != nil || !call() {
		return 1
	}
	return 0
}

// run calls with the context's handle, or none, unless an argument is at fault; a panic of its callbacks goes on here.
func (c *Context) run(call func(*C.mercer_context) C.mercer_status, faults ...error) error {
	if err := faulty(faults...); err != nil {
		return err
	}
	if c == nil {
		return check(func() C.mercer_status { return call(nil) })
	}
	// Refused before anything of the running call is touched.
	if !c.busy.CompareAndSwap(false, true) {
		return invalid("Context is used by another call, expected one call at a time")
	}
	defer c.busy.Store(false)
	if c.handle == nil {
		return invalid("Context is closed, expected an open one")
	}
	if c.user != nil {
		handle := cgo.NewHandle(c)
		defer handle.Delete()
		*c.user, c.panicked = C.uintptr_t(handle), nil
	}
	err := check(func() C.mercer_status { return call(c.handle) })
	runtime.KeepAlive(c)
	if c.panicked != nil {
		panic(c.panicked)
	}
	return err
}

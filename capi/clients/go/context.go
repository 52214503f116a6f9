// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors

package mercer

// #include "calls.h"
import "C"

import (
	"math"
	"runtime/cgo"
	"sync/atomic"
	"unsafe"
)

// Options of a context; zeros are the defaults.
type Options struct {
	Threads   int   // of the library's own loops; 0: all
	MemoryCap int64 // bytes that a call may allocate, its result among them; 0: no cap
	// Progress is called now and then while the caller of a call waits; false ends the call. It must not use the kernel, map or model of
	// that call, which may be locked, but may close them.
	Progress func(done, total int64) bool
	// Trial is called likewise for each finished trial of a search, with an object as in "trials" of the report.
	Trial func(json string)
}

// Context limits the calls that are given it and reports their progress. It serves one call at a time.
type Context struct {
	held    *held[*C.mercer_context] // it has the finalizer: the context, which Progress may mention, could not
	user    *C.uintptr_t             // a cgo.Handle in memory of C
	options Options
	outcome outcome
	busy    atomic.Bool
}

// NewContext makes a context.
func NewContext(options Options) (*Context, error) {
	if options.Threads < math.MinInt32 || options.Threads > math.MaxInt32 {
		return nil, invalid("NewContext: Options.Threads = %d, expected a number of threads", options.Threads)
	}
	var user *C.uintptr_t
	if options.Progress != nil || options.Trial != nil {
		user = (*C.uintptr_t)(C.calloc(1, C.sizeof_uintptr_t))
	}
	free := func(handle *C.mercer_context) {
		C.mercer_context_free(handle)
		C.free(unsafe.Pointer(user))
	}
	h, err := hold(free, func(out **C.mercer_context) error {
		return check(func() C.mercer_status {
			return C.go_context(C.int32_t(options.Threads), C.int64_t(options.MemoryCap), user, out)
		})
	})
	if err != nil {
		return nil, err
	}
	return &Context{held: h, user: user, options: options}, nil
}

// Close frees the context, after the call that uses it.
func (c *Context) Close() {
	if c != nil {
		c.held.close()
	}
}

// Cancel ends the running call soon, from any goroutine; where none runs, as after one that ended meanwhile, the next one, unless
// Withdraw is called before.
func (c *Context) Cancel() { c.cancel(1) }

// Withdraw takes back a Cancel that no call has answered, as before a new task.
func (c *Context) Withdraw() { c.cancel(0) }

func (c *Context) cancel(cancel C.int32_t) {
	if c != nil {
		handle, done := c.held.use()
		defer done()
		C.mercer_context_cancel(handle, cancel)
	}
}

// run calls with the context's handle, or none, unless an argument is at fault; what its callbacks did in place of returning goes on here.
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
	handle, done := c.held.use()
	defer done()
	if handle == nil {
		return invalid("Context is closed, expected an open one")
	}
	c.outcome = outcome{}
	if c.user != nil {
		self := cgo.NewHandle(c)
		defer self.Delete()
		*c.user = C.uintptr_t(self)
	}
	err := check(func() C.mercer_status { return call(handle) })
	c.outcome.goOn()
	return err
}

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors

package mercer

// #include <mercer/mercer.h>
// #include <stdlib.h>
// int32_t mercerGoProgress(void*, int64_t, int64_t);
import "C"

import (
	"runtime"
	"runtime/cgo"
	"sync/atomic"
	"unsafe"
)

// Context has the limits and the progress of the calls that are given it, one at a time.
type Context struct {
	handle   *C.mercer_context
	user     *C.uintptr_t // a cgo.Handle in memory of C
	progress func(done, total int64) bool
	panicked any
	busy     atomic.Bool
}

// NewContext: threads of the library's own loops, 0: all; bytes that a call may allocate, 0: no cap; progress, called now and then on
// the calling goroutine, nil or false to end the call.
func NewContext(threads int, memoryCap int64, progress func(done, total int64) bool) (*Context, error) {
	c := &Context{progress: progress}
	options := (*C.mercer_context_options)(C.calloc(1, C.sizeof_mercer_context_options))
	defer C.free(unsafe.Pointer(options))
	options.struct_size, options.threads, options.memory_cap = C.sizeof_mercer_context_options, C.int32_t(threads), C.int64_t(memoryCap)
	if progress != nil {
		c.user = (*C.uintptr_t)(C.calloc(1, C.sizeof_uintptr_t))
		options.progress, options.user = C.mercer_progress(C.mercerGoProgress), unsafe.Pointer(c.user)
	}
	if err := check(func() C.mercer_status { return C.mercer_context_create(options, &c.handle) }); err != nil {
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

// run calls with the context's handle, or none; a panic of its callback goes on here.
func (c *Context) run(call func(*C.mercer_context) C.mercer_status) error {
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
	if c.progress != nil {
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

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors

package mercer

// #include "calls.h"
import "C"

import (
	"runtime"
	"runtime/cgo"
	"unsafe"
)

// outcome is what a callback did in place of returning. Nothing may unwind through C: it is kept, and goes on when the call has returned.
type outcome struct {
	panicked, exited bool
	value            any
}

// ran runs a callback, unless one before did not return. It has a goroutine of its own: runtime.Goexit, which t.FailNow calls, cannot
// be held up, and would leave C in the middle of the call.
func (o *outcome) ran(call func()) bool {
	if o.panicked {
		return false
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		o.panicked, o.exited = true, true // until it has returned; recover does not tell panic(nil) from Goexit
		func() {
			defer func() {
				if o.panicked {
					o.value = recover()
				}
			}()
			call()
			o.panicked = false
		}()
		o.exited = false
	}()
	<-done
	return !o.panicked
}

func (o *outcome) goOn() {
	if o.exited {
		runtime.Goexit()
	}
	if o.panicked {
		panic(o.value)
	}
}

//export mercerGoProgress
func mercerGoProgress(context C.uintptr_t, done, total C.int64_t) C.int32_t {
	c, more := cgo.Handle(context).Value().(*Context), true
	returned := c.outcome.ran(func() {
		if c.options.Progress != nil {
			more = c.options.Progress(int64(done), int64(total))
		}
	})
	return flag(!returned || !more)
}

//export mercerGoTrial
func mercerGoTrial(context C.uintptr_t, json *C.char) {
	c := cgo.Handle(context).Value().(*Context)
	c.outcome.ran(func() {
		if c.options.Trial != nil {
			c.options.Trial(C.GoString(json))
		}
	})
}

//export mercerGoRewind
func mercerGoRewind(source C.uintptr_t) C.int32_t {
	r := cgo.Handle(source).Value().(*reading)
	return r.failed(r.rewind)
}

//export mercerGoNext
func mercerGoNext(source C.uintptr_t, x, y *C.mercer_rows) C.int32_t {
	r := cgo.Handle(source).Value().(*reading)
	return r.failed(func() error { return r.next(x, y) })
}

//export mercerGoSum
func mercerGoSum(source C.uintptr_t, n C.int64_t, numbers *C.double) C.int32_t {
	r := cgo.Handle(source).Value().(*reading)
	return r.failed(func() error { return r.sum(unsafe.Slice((*float64)(numbers), int(n))) })
}

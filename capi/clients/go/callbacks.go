// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors

package mercer

// #include "calls.h"
import "C"

import (
	"runtime/cgo"
	"unsafe"
)

//export mercerGoProgress
func mercerGoProgress(context C.uintptr_t, done, total C.int64_t) (cancel C.int32_t) {
	c := cgo.Handle(context).Value().(*Context)
	return c.guarded(func() bool { return c.options.Progress == nil || c.options.Progress(int64(done), int64(total)) })
}

//export mercerGoTrial
func mercerGoTrial(context C.uintptr_t, json *C.char) {
	c := cgo.Handle(context).Value().(*Context)
	c.guarded(func() bool {
		if c.options.Trial != nil {
			c.options.Trial(C.GoString(json))
		}
		return true
	})
}

//export mercerGoRewind
func mercerGoRewind(source C.uintptr_t) C.int32_t {
	r := cgo.Handle(source).Value().(*reading)
	return r.guarded(r.rewind)
}

//export mercerGoNext
func mercerGoNext(source C.uintptr_t, x, y *C.mercer_rows) C.int32_t {
	r := cgo.Handle(source).Value().(*reading)
	return r.guarded(func() error { return r.next(x, y) })
}

//export mercerGoSum
func mercerGoSum(source C.uintptr_t, n C.int64_t, numbers *C.double) C.int32_t {
	r := cgo.Handle(source).Value().(*reading)
	return r.guarded(func() error { return r.sum(unsafe.Slice((*float64)(numbers), int(n))) })
}

// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors

package mercer

// #include <stdint.h>
import "C"

import (
	"runtime/cgo"
	"unsafe"
)

// Nothing may unwind through C: a panic is kept, ends the call and goes on after it.
//
//export mercerGoProgress
func mercerGoProgress(user unsafe.Pointer, done, total C.int64_t) (cancel C.int32_t) {
	c := cgo.Handle(*(*C.uintptr_t)(user)).Value().(*Context)
	defer func() {
		if panicked := recover(); panicked != nil {
			c.panicked, cancel = panicked, 1
		}
	}()
	if !c.progress(int64(done), int64(total)) {
		return 1
	}
	return 0
}

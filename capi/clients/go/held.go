// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors

package mercer

import (
	"runtime"
	"sync"
)

// held is a handle of C, freed by close or with the last reference, but not before the calls that use it have returned.
type held[P any] struct {
	lock   sync.Mutex
	handle P
	free   func(P)
	uses   int
	closed bool
}

// hold keeps the handle that a call writes; where a panic goes on after the call it frees it.
func hold[P any](free func(P), call func(out *P) error) (h *held[P], err error) {
	var handle P
	defer func() {
		if h == nil {
			free(handle) // NULL after an error
		}
	}()
	if err = call(&handle); err != nil {
		return nil, err
	}
	h = &held[P]{handle: handle, free: free}
	runtime.SetFinalizer(h, (*held[P]).close)
	return h, nil
}

// use gives what C is given until done is called: NULL, which it refuses, for what is closed or was never made.
func (h *held[P]) use() (handle P, done func()) {
	if h == nil {
		return handle, func() {}
	}
	h.lock.Lock()
	defer h.lock.Unlock()
	if h.closed {
		return handle, func() {}
	}
	h.uses++
	return h.handle, func() { h.leave(1, false) }
}

func (h *held[P]) close() {
	if h != nil {
		h.leave(0, true)
	}
}

// leave ends uses, or closes; what does the last of both frees.
func (h *held[P]) leave(uses int, closing bool) {
	h.lock.Lock()
	was := h.closed && h.uses == 0
	h.uses, h.closed = h.uses-uses, h.closed || closing
	last := !was && h.closed && h.uses == 0
	h.lock.Unlock()
	if last {
		h.free(h.handle)
	}
}

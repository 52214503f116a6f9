// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The mercer authors

package mercer

import (
	"errors"
	"io"
	"runtime"
	"sync"
	"testing"
	"time"
)

// atOnce runs a call in four goroutines.
func atOnce(call func()) {
	var all sync.WaitGroup
	for g := 0; g < 4; g++ {
		all.Add(1)
		go func() {
			defer all.Done()
			call()
		}()
	}
	all.Wait()
}

func TestCloseComesFromAnyGoroutine(t *testing.T) {
	x, y := rows(200)
	for i := 0; i < 20; i++ {
		m, context := must(NewMap(spec)), must(NewContext(Options{}))
		k, model := must(m.Kernel()), must(FitModel(small, data(x[:60], y[:20]), nil))
		atOnce(func() {
			context.Cancel()
			m.Close()
			k.Close()
			model.Close()
			context.Close()
		})
		refused(t, failed(Transform(m, Dense(x, 3), nil)), InvalidArgument, "mercer_map_transform")
	}
	for i := 0; i < 20; i++ { // beside those that use it
		m, begun := must(NewMap(spec)), make(chan bool, 4)
		go func() {
			<-begun
			m.Close()
		}()
		atOnce(func() {
			for begun <- true; ; {
				if z, err := Transform(m, Dense(x, 3), nil); err != nil {
					refused(t, err, InvalidArgument, "mercer_map_transform")
					return
				} else if len(z) != 200*512 {
					t.Error(len(z))
				}
			}
		})
	}
	(*Context)(nil).Cancel()
	(*Context)(nil).Withdraw()
	(*Context)(nil).Close()
}

func TestProgressMayClose(t *testing.T) {
	x, y := rows(200)
	m := must(NewMap(spec))
	var context *Context
	context = must(NewContext(Options{Progress: func(int64, int64) bool {
		m.Close()
		context.Close()
		return true
	}}))
	model := must(FitModel(`{"lambda":1e-3}`, Data[float64]{X: Dense(x, 3), Y: Dense(y, 1), Map: m}, context))
	if model.Shape().Features != 512 || m.held.handle == nil {
		t.Error(model.Shape())
	}
	refused(t, failed(Predict(model, Dense(x, 3), Ask{}, context)), InvalidArgument, "closed")
	refused(t, failed(m.Kernel()), InvalidArgument, "mercer_map_kernel")
}

// toldFree runs free of a handle and tells so.
func toldFree[P any](h *held[P], freed chan bool) {
	free := h.free
	h.free = func(handle P) {
		free(handle)
		close(freed)
	}
}

func TestAContextOfItsOwnProgressIsCollected(t *testing.T) {
	freed := make(chan bool)
	func() {
		var context *Context
		context = must(NewContext(Options{Progress: func(int64, int64) bool { return context != nil }}))
		toldFree(context.held, freed)
	}()
	for i := 0; i < 500; i++ {
		runtime.GC()
		select {
		case <-freed:
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
	t.Error("the context is still there")
}

// endOf says how a goroutine ends that runs a call: it returns, exits, or panics with a value.
func endOf(call func()) (how string, value any) {
	done := make(chan bool)
	go func() {
		defer close(done)
		returned := false
		how = "exits"
		func() {
			defer func() { value = recover() }()
			call()
			returned = true
		}()
		if how = "panics"; returned {
			how = "returns"
		}
	}()
	<-done
	return how, value
}

func TestCallbacksThatDoNotReturn(t *testing.T) {
	x, y := rows(200)
	m, free := must(NewMap(spec)), `{"map":{"kernel":{"kernel":"gaussian"},"features":32}}`
	for _, c := range []struct {
		how   string
		value any
		call  func()
	}{
		{"exits", nil, runtime.Goexit}, // as t.FailNow does
		{"panics", nil, func() { panic(nil) }},
		{"panics", "of a callback", func() { panic("of a callback") }},
	} {
		broken := true
		fall := func() {
			if broken {
				c.call()
			}
		}
		progress := must(NewContext(Options{Progress: func(int64, int64) bool { fall(); return true }}))
		last := must(NewContext(Options{Progress: func(done, total int64) bool {
			if done == total {
				fall()
			}
			return true
		}}))
		trial := must(NewContext(Options{Trial: func(string) { fall() }}))
		source := blocks(x, y, nil)
		next := source.Next
		source.Next = func() (Rows[float64], Rows[float64], error) { fall(); return next() }
		calls := map[string]func(){
			"progress": func() {
				must(FitModel(`{"lambda":1e-3}`, Data[float64]{X: Dense(x, 3), Y: Dense(y, 1), Map: m}, progress))
			},
			"last":   func() { must(FitModel(small, data(x, y), last)) },
			"trial":  func() { must(FitModel(free, data(x, y), trial)) },
			"source": func() { must(FitModel(`{"lambda":1e-3}`, Data[float64]{Source: source, Map: m}, nil)) },
		}
		for name, call := range calls {
			if how, value := endOf(call); how != c.how || value != c.value {
				t.Errorf("%s %s with %v, expected that it %s with %v", name, how, value, c.how, c.value)
			}
		}
		broken = false // nothing is locked
		for name, call := range calls {
			if how, value := endOf(call); how != "returns" {
				t.Errorf("%s %s with %v after one that %s", name, how, value, c.how)
			}
		}
	}
	freed := 0
	how, _ := endOf(func() {
		must(hold(func(handle int) { freed += handle }, func(out *int) error {
			*out = 7
			panic("of the last callback")
		}))
	})
	if how != "panics" || freed != 7 {
		t.Error("a handle is lost", how, freed)
	}
}

func TestRowsBesideTheEndAreTaken(t *testing.T) {
	x, y := rows(100)
	at := 0
	source := &Source[float64]{Inputs: 3, Targets: 1, Rewind: func() error { at = 0; return nil }}
	source.Next = func() (Rows[float64], Rows[float64], error) {
		if at++; at > 2 {
			t.Error("asked after the end")
		}
		if at == 1 {
			return Dense(x[:180], 3), Dense(y[:60], 1), nil
		}
		return Dense(x[180:], 3), Dense(y[60:], 1), io.EOF
	}
	m := must(NewMap(spec))
	fit := func() (*Model, error) { return FitModel(`{"lambda":1e-3}`, Data[float64]{Source: source, Map: m}, nil) }
	if n := must(fit()).Shape().Rows; n != 100 {
		t.Errorf("%d rows of 100", n)
	}
	source.Next = func() (Rows[float64], Rows[float64], error) { return Dense(x[:100], 3), Dense(y[:1], 1), io.EOF }
	refused(t, failed(fit()), InvalidArgument, "Dense")
	source.Next = nil
	refused(t, failed(fit()), InvalidArgument, "no Next")
}

func TestACancelIsWithdrawn(t *testing.T) {
	x, y := rows(60)
	context := must(NewContext(Options{}))
	context.Cancel()
	context.Withdraw()
	must(FitModel(small, data(x, y), context))
	context.Cancel()
	if err := failed(FitModel(small, data(x, y), context)); !errors.Is(err, Cancelled) {
		t.Error(err)
	}
}

func TestWhatMemoryDoesNotHoldIsRefused(t *testing.T) {
	x, y := rows(60)
	plain, gp := must(FitModel(small, data(x, y), nil)), must(FitModel(`{"model":"gp",`+small[1:], data(x, y), nil))
	many := Ask{What: "sample", Samples: 1 << 36} // 33 TB
	refused(t, failed(Predict(plain, Dense(x, 3), many, nil)), Unsupported, "sample")
	refused(t, failed(Predict(gp, Dense(x, 3), many, nil)), OutOfMemory, "Predict: a result of 60 x 68719476736")
	capped := must(NewContext(Options{MemoryCap: 1000}))
	refused(t, failed(Predict(gp, Dense(x, 3), Ask{What: "joint_covariance"}, capped)), OutOfMemory, "60 x 60")
	refused(t, failed(Gram(must(NewKernel(`{"kernel":"gaussian"}`)), Dense(x, 3), Dense(x, 3), capped)), OutOfMemory, "Gram")
}

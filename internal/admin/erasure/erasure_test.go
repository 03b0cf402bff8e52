package erasure_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"surehook.example/surehook/internal/admin/erasure"
	"surehook.example/surehook/internal/admin/tenant"
	"surehook.example/surehook/internal/delivery/ingest"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/proof/porttest"
)

var errDead = errors.New("the process is dead")

// world is a store with two tenants, and a worker that dies at an effect.
type world struct {
	*testing.T
	*memory.Store
	now    time.Time
	queue  *memory.JobQueue
	acme   porttest.Estate
	others []string

	effects int
	dieAt   int // the fatal effect; 0: none
	after   bool
	dead    bool
	before  func() // called before each effect; may be nil

	found func(erasure.Stage) // called after each read of records

	stage  erasure.Stage // of the last read of records
	lateAt time.Time     // of a late event; zero: none
}

func setup(t *testing.T) *world {
	t.Helper()

	w := &world{T: t, Store: memory.NewStore(), now: time.Date(2026, 1, 2, 4, 0, 0, 0, time.UTC)}
	w.queue = memory.NewJobQueue(func() time.Time { return w.now })
	w.acme = porttest.Furnish(t, w.Store, "acme")
	porttest.Furnish(t, w.Store, "globex")
	w.others = w.Remains("globex")
	if len(w.Remains("acme")) != len(w.others) || len(w.others) < 40 {
		t.Fatalf("Remains() = %v; want the records of the estate", w.others)
	}
	return w
}

// effect makes the effect, unless the process is dead or dies before.
func (w *world) effect(do func() error) error {
	if w.before != nil {
		w.before()
	}
	if w.dead {
		return errDead
	}
	w.effects++
	fatal := w.effects == w.dieAt
	w.dead = fatal
	if fatal && !w.after {
		return errDead
	}
	if err := do(); err != nil || !fatal {
		return err
	}
	return errDead
}

func (w *world) BeginErasure(ctx context.Context, e erasure.Erasure) (stored erasure.Erasure, err error) {
	err = w.effect(func() (err error) { stored, err = w.Store.BeginErasure(ctx, e); return err })
	return stored, err
}

func (w *world) SaveErasure(ctx context.Context, e erasure.Erasure) error {
	return w.effect(func() error { return w.Store.SaveErasure(ctx, e) })
}

func (w *world) FinishErasure(ctx context.Context, e erasure.Erasure) error {
	return w.effect(func() error { return w.Store.FinishErasure(ctx, e) })
}

func (w *world) RemoveRecords(ctx context.Context, id hook.TenantID, records []erasure.Record) error {
	err := w.effect(func() error { return w.Store.RemoveRecords(ctx, id, records) })
	if errors.Is(err, errDead) && w.stage != erasure.StageFinish {
		// Another process has read one of the records just before it is removed, and writes as
		// late as possible.
		w.lateAt = w.now.Add(erasure.Quiet - time.Second)
	}
	return err
}

func (w *world) FindRecords(ctx context.Context, id hook.TenantID, stage erasure.Stage, cursor string) (part erasure.Part, err error) {
	err = w.effect(func() (err error) { part, err = w.Store.FindRecords(ctx, id, stage, cursor); return err })
	w.stage = stage
	if w.found != nil {
		w.found(stage)
	}
	return part, err
}

func (w *world) Continue(ctx context.Context, m replay.Message, delay time.Duration) error {
	return w.effect(func() error { return w.queue.Continue(ctx, m, delay) })
}

func (w *world) eraser() *erasure.Eraser {
	return &erasure.Eraser{Store: w, Queue: w, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return w.now }}
}

// run works until no message is left. A dead process comes back to life for the next message.
// With twice, every tenth message is processed twice, which must not start a second chain of
// messages.
func (w *world) run(twice bool) {
	w.Helper()

	for steps := 0; ; steps++ {
		at, ok := w.queue.Next()
		if !ok && w.lateAt.IsZero() {
			return
		}
		if !ok {
			at = w.lateAt.Add(1)
		}
		if steps > 5000 {
			w.Fatal("the job does not end")
		}
		if !w.lateAt.IsZero() && at.After(w.lateAt) {
			w.now, w.lateAt = w.lateAt, time.Time{}
			w.putEvent()
		}
		if at.After(w.now) {
			w.now = at
		}
		for _, m := range w.queue.Receive(1) {
			w.dead = false
			if twice && steps%10 == 0 {
				_ = w.eraser().Work(w.Context(), m.Job)
			}
			if w.eraser().Work(w.Context(), m.Job) == nil {
				w.queue.Delete(m.ID)
			}
		}
	}
}

// putEvent stores an event of acme without a target, which only the scan finds.
func (w *world) putEvent() {
	w.Helper()

	check(w, w.PutEvent(w.Context(), hook.Event{ID: hook.NewEventID(), Tenant: "acme", Type: "a", AcceptedAt: w.now, ExpiresAt: w.now.Add(time.Hour)}))
}

// wantErased requires that nothing of acme and everything of globex is left.
func (w *world) wantErased(id hook.ErasureID) {
	w.Helper()

	if left := w.Remains("acme"); len(left) > 0 {
		w.Errorf("left of acme: %v", left)
	}
	if kept := w.Remains("globex"); !slices.Equal(kept, w.others) {
		w.Errorf("left of globex: %q; want %q", kept, w.others)
	}
	e, err := w.Erasure(w.Context(), "acme", id)
	if err != nil || e.State() != "finished" || e.EndedAt.IsZero() || e.Passes < 2 {
		w.Errorf("Erasure() = %+v, %v; want a finished job", e, err)
	}
}

func (w *world) start() hook.ErasureID {
	w.Helper()

	for {
		e, _, err := w.eraser().Start(w.Context(), "acme", "key_1")
		if err == nil {
			return e.ID
		}
		w.dead = false // the caller repeats the request
	}
}

func TestEraser_RemovesEverything(t *testing.T) {
	t.Parallel()

	w := setup(t)
	id := w.start()
	w.run(false)
	w.wantErased(id)
	e, _ := w.Erasure(t.Context(), "acme", id)
	got := e.Removed
	got.Other = 0
	if want := (erasure.Counts{Keys: 3, Endpoints: 2, Events: 4, Deliveries: 6, Attempts: 6, Replays: 1}); got != want {
		t.Errorf("removed %+v; want %+v", got, want)
	}
}

// TestEraser_crashes lets the process die before and after each effect, with and without
// duplicate messages.
func TestEraser_crashes(t *testing.T) {
	t.Parallel()

	for _, twice := range []bool{false, true} {
		whole := setup(t)
		whole.start()
		whole.run(twice)
		if whole.effects < 20 {
			t.Fatalf("effects = %d; the test misses the job", whole.effects)
		}
		for n := 1; n <= whole.effects; n++ {
			for _, after := range []bool{false, true} {
				w := setup(t)
				w.dieAt, w.after = n, after
				id := w.start()
				w.run(twice)
				w.wantErased(id)
				if t.Failed() {
					t.Fatalf("death at effect %d, after: %t, twice: %t", n, after, twice)
				}
			}
		}
	}
}

// TestEraser_lateWrites lets processes that read the tenant before the mark, or a record before
// its removal, write behind the position of the job.
func TestEraser_lateWrites(t *testing.T) {
	t.Parallel()

	late := map[string]func(w *world){
		"an event": (*world).putEvent,
		"a delivery": func(w *world) {
			d := w.acme.Deliveries[0]
			d.Version, d.ID.Generation = 0, d.ID.Generation+1
			check(w, w.SaveDelivery(w.Context(), d, nil))
		},
		"a key": func(w *world) {
			check(w, w.PutKey(w.Context(), hook.APIKey{ID: hook.NewKeyID(), Tenant: "acme", Hash: hook.NewNonce()}))
		},
		"limits": func(w *world) {
			check(w, w.SetTenantLimits(w.Context(), "acme", hook.TenantLimits{EventsPerSecond: 1}))
		},
		"a data key": func(w *world) { _ = w.PutDataKey(w.Context(), "acme", []byte("late")) },
	}
	for name, write := range late {
		for _, stage := range []erasure.Stage{erasure.StageStop, erasure.StageWalk, erasure.StageScan} {
			t.Run(name+" in stage "+stage.String(), func(t *testing.T) {
				t.Parallel()

				w := setup(t)
				pending := true
				w.found = func(now erasure.Stage) {
					if pending && now == stage {
						pending = false
						write(w)
					}
				}
				id := w.start()
				w.run(false)
				if pending {
					t.Fatal("nothing was written late")
				}
				w.wantErased(id)
			})
		}
	}
}

// TestEraser_latePost lets a post write its event as late as possible after it read the tenant
// before the mark.
func TestEraser_latePost(t *testing.T) {
	t.Parallel()

	w := setup(t)
	id := w.start()
	w.lateAt = w.now.Add(erasure.Quiet - time.Second)
	w.run(false)
	w.wantErased(id)
}

func TestEraser_Start_again(t *testing.T) {
	t.Parallel()

	w := setup(t)
	first, second := w.start(), w.start()
	if first != second {
		t.Errorf("Start() = %s, then %s; want one job", first, second)
	}
	guard := tenant.Guard{Store: w.Store, Now: func() time.Time { return w.now }}
	if err := guard.Check(t.Context(), "acme", true); hook.CodeOf(err) != hook.CodeTenantClosing {
		t.Errorf("Check(acme) = %v; want tenant_closing", err)
	}
	if err := guard.Check(t.Context(), "globex", true); err != nil {
		t.Errorf("Check(globex) = %v; want no error", err)
	}
	w.run(false)
	w.wantErased(first)
	third := w.start() // the name is unknown now
	if third == first {
		t.Errorf("Start(after the end) = %s; want another job", third)
	}
	w.run(false)
	w.wantErased(third)
}

// TestEraser_reuse posts through one directory before, during and after the erasure. The
// directory has cached the endpoints of the erased tenant.
func TestEraser_reuse(t *testing.T) {
	t.Parallel()

	w := setup(t)
	check(w, w.SetTenantLimits(t.Context(), "acme", hook.TenantLimits{}))
	directory := ingest.NewDirectory(w.Store)
	acceptor := ingest.Acceptor{
		Store: w.Store, Queue: memory.NewTaskQueues(func() time.Time { return w.now }), Directory: directory,
		Retention: 90 * 24 * time.Hour, Now: func() time.Time { return w.now }, NewID: hook.NewEventID,
	}
	post := func() (ingest.Result, error) {
		return acceptor.Accept(t.Context(), "acme", ingest.Request{Type: "order.paid", Payload: []byte("1")})
	}
	if got, err := post(); err != nil || got.Deliveries != 2 {
		t.Fatalf("Accept() = %+v, %v; want 2 deliveries", got, err)
	}
	cached, err := w.TenantVersion(t.Context(), "acme")
	check(w, err)
	id := w.start()
	if _, err := post(); hook.CodeOf(err) != hook.CodeTenantClosing {
		t.Errorf("Accept(closing) = %v; want tenant_closing", err)
	}
	w.run(false)
	w.wantErased(id)
	for range 30 {
		check(w, w.SetTenantLimits(t.Context(), "acme", hook.TenantLimits{}))
		if version, err := w.TenantVersion(t.Context(), "acme"); err != nil || version == cached {
			break // otherwise the directory would use its cached list
		}
	}
	if got, err := post(); err != nil || got.Deliveries != 0 {
		t.Errorf("Accept(erased) = %+v, %v; want no delivery", got, err)
	}
}

func check(w *world, err error) {
	w.Helper()

	if err != nil {
		w.Fatal(err)
	}
}

package formats_test

import (
	"testing"
	"testing/cryptotest"
	"time"

	"surehook.example/surehook/internal/aws/kms"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
	"surehook.example/surehook/proof/porttest"
)

// build is what one build of Surehook wrote, as stored in a folder of testdata.
type build struct {
	items    map[string][]byte // JSON lists of items, by kind
	messages map[string]string // bodies by name; the first word is the kind
	cursors  map[string]string // by the name of the list
}

// written returns what today's code writes.
func written(t *testing.T) build {
	t.Helper()

	cryptotest.SetGlobalRandom(t, 1) // so that sealed secrets are the same in each run
	s := memory.NewStore()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	writeTenants(t, s, ok)
	writeEvents(t, s, ok)
	writeCircuits(t, s, ok)
	writeManagement(t, s, ok)
	return build{items: itemsOf(t, s), messages: messages(t), cursors: cursors(t, s)}
}

func writeTenants(t *testing.T, s *memory.Store, ok func(error)) {
	t.Helper()

	ctx := t.Context()
	ok(s.SetTenantLimits(ctx, tenant, tenantLimits()))
	ok(s.RegisterTenant(ctx, "globex"))
	_, err := s.Spend(ctx, tenant, hook.NewSpend(hook.SpentEvents, 50, 100, time.Second, at(1)))
	ok(err)
	cfg, _ := porttest.PlainKMS(t)
	sealer, err := kms.NewSealer(cfg, porttest.KeyARN, s)
	ok(err)
	sealed, err := sealer.Seal(ctx, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", tenant, first)
	ok(err)
	for _, e := range endpoints(sealed) {
		ok(s.CreateEndpoint(ctx, e))
	}
	for _, e := range erasures() {
		stored, err := s.BeginErasure(ctx, e)
		ok(err)
		e.Version = stored.Version
		ok(s.SaveErasure(ctx, e))
	}
}

func writeEvents(t *testing.T, s *memory.Store, ok func(error)) {
	t.Helper()

	ctx := t.Context()
	put := func(e hook.Event) hook.Event {
		ok(s.PutEvent(ctx, e))
		return e
	}
	n := 0
	for ; n < hook.Classes-1; n++ {
		e := put(event(n, target()))
		d, a := recorded(n, states()[n%len(states())], hook.ClassDelivered+hook.Class(n))
		if n == 0 { // replayed as generation 2
			d.Replayed = hook.Replayed{Generation: 2, At: at(9), ReplayRequest: hook.ReplayRequest{By: caller, Job: job, JobIndex: 7, Force: true, Redrive: true}}
		}
		if n%2 == 1 { // without the members, the attempt is part of the delivery's record
			a.Outcome.Batch = a.Outcome.Batch.Short()
		}
		ok(s.SaveDelivery(ctx, d, a))
		if n == 0 {
			again := hook.QueuedReplay(e, d)
			again.State, again.Attempts = hook.StateParked, 1
			ok(s.SaveDelivery(ctx, again, &hook.Attempt{Delivery: again.Ref(), Number: 1, Trigger: hook.TriggerReplay, StartedAt: at(9), Outcome: d.Last}))
		}
		if d.State.Settled() {
			ok(s.RecordOutcome(ctx, d))
		}
	}
	other := hook.Target{Endpoint: second, Shards: 1}
	put(large(event(n, target(), other)))
	put(event(n + 1)) // without a target: listed apart
	ok(s.AddTarget(ctx, put(event(n+2, other)), target()))
	erased := put(event(n+3, target()))
	d, a := recorded(n+3, hook.StateDead, hook.ClassTimeout)
	ok(s.SaveDelivery(ctx, d, a))
	erased.ErasedAt = at(8)
	ok(s.EraseEvent(ctx, erased))
	d.Version++
	ok(s.SaveDelivery(ctx, d.Erase(at(8)), nil))
	ok(s.EraseAttempts(ctx, d))
	ordered := put(inOrder(event(n+5, target())))
	placed := hook.QueuedDelivery(ordered, target())
	placed.Place = 7
	ok(s.SaveDelivery(ctx, placed, nil))
	q, place := sequence(n + 5)
	ok(s.SaveSequence(ctx, q))
	ok(s.PutPlace(ctx, q.ID, place))
	once := put(event(n+4, target())) // delivered by the first attempt: the smallest record
	quick := hook.QueuedDelivery(once, target())
	quick.State, quick.Attempts, quick.DecidedBy, quick.Last = hook.StateDelivered, 1, "task", hook.Outcome{Class: hook.ClassDelivered, Status: 200, URL: "https://example.com/hooks"}
	ok(s.SaveDelivery(ctx, quick, nil))
}

func writeCircuits(t *testing.T, s *memory.Store, ok func(error)) {
	t.Helper()

	ctx := t.Context()
	for _, r := range circuits() {
		ok(s.SaveCircuit(ctx, r))
	}
	ok(s.ChangeLimits(ctx, first, noLimits(), limits("order_1")))
	ok(s.ChangeShares(ctx, tenant, noLimits(), limits("dlv_1_1_token")))
	_, err := s.Count(ctx, tenant, first, counts(), at(45))
	ok(err)
	for n := range 3 {
		ok(s.PutNotification(ctx, notification(n)))
	}
}

func writeManagement(t *testing.T, s *memory.Store, ok func(error)) {
	t.Helper()

	ctx := t.Context()
	for o := hook.AuditPending; o <= hook.AuditFailed; o++ {
		ok(s.PutAudit(ctx, change(int(o), o)))
	}
	for n := range 2 { // of no single tenant
		r := change(10+n, hook.AuditDone)
		r.Tenant = hook.AllTenants
		ok(s.PutAudit(ctx, r))
	}
	for _, j := range replays() {
		ok(s.SaveJob(ctx, j))
	}
	running := replays()[0]
	running.Version++
	ok(s.SaveJob(ctx, running))
	for n := range 2 {
		ok(s.PutKey(ctx, apiKey(n)))
	}
	ok(s.TouchKey(ctx, apiKey(0), "2026-03-05"))
	ok(s.PutLink(ctx, unopened()))
	ok(s.OpenLink(ctx, link()))
	for v := hook.Validation(0); v <= hook.ValidationReject; v++ {
		ok(s.PutEventType(ctx, hook.EventType{}, eventType(int(v), v)))
	}
}

func unopened() hook.PortalLink {
	l := link()
	l.KeyHash = ""
	return l
}

// now is the time of every read.
func now() time.Time { return at(1000) }

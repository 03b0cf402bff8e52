package porttest

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"surehook.example/surehook/internal/admin/erasure"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/memory"
)

func erasureCases() []storeCase {
	return []storeCase{
		{name: "a job of erasure comes back as its next version", run: erasureComesBack},
		{name: "of 20 racing marks of a tenant one wins, and all name the winner", run: markRace},
		{name: "a marked tenant takes no endpoint and has no version", run: markCloses},
		{name: "a tenant ends with its mark only", run: finishNeedsMark},
		{name: "an erasure removes everything of the tenant and nothing of others", run: eraseTenant},
		{name: "an erased tenant's name begins anew, with other versions", run: eraseAndReuse},
	}
}

func sampleErasure() erasure.Erasure {
	return erasure.Erasure{
		ID: hook.NewErasureID(), Tenant: "acme", By: "key_1", CreatedAt: storeEpoch(), UpdatedAt: storeEpoch().Add(time.Second),
		EndedAt: storeEpoch().Add(time.Minute), ExpiresAt: storeExpiry(), Stage: erasure.StageScan, Cursor: "a b", Dirty: true, Passes: 3,
		NotBefore: storeEpoch().Add(time.Hour), Removed: erasure.Counts{Keys: 1, Endpoints: 2, Events: 3, Deliveries: 4, Attempts: 5, Replays: 6, Other: 7},
		Chain: replay.Chain{Next: hook.NewNonce(), Previous: hook.NewNonce()},
	}
}

func erasureComesBack(t *testing.T, s StoreUnderTest) {
	e := sampleErasure()
	stored, err := s.BeginErasure(t.Context(), e)
	e.Version = 1
	wantSame(t, "BeginErasure()", e, stored, err)
	e.Stage, e.Passes = erasure.StageFinish, 4
	check(t, s.SaveErasure(t.Context(), e))
	wantCode(t, "SaveErasure(old version)", s.SaveErasure(t.Context(), e), hook.CodeConflict)
	e.Version = 2
	got, err := s.Erasure(t.Context(), "acme", e.ID)
	wantSame(t, "Erasure()", e, got, err)
	_, err = s.Erasure(t.Context(), "globex", e.ID)
	wantCode(t, "Erasure(of another tenant)", err, hook.CodeNotFound)
}

func markRace(t *testing.T, s StoreUnderTest) {
	ids := make([]hook.ErasureID, 20)
	race(t, len(ids), func(ctx context.Context, i int) error {
		stored, err := s.BeginErasure(ctx, sampleErasure())
		ids[i] = stored.ID
		return err
	})
	for _, id := range ids {
		if id == "" || id != ids[0] {
			t.Fatalf("BeginErasure() = %v; want one job", ids)
		}
	}
}

func markCloses(t *testing.T, s StoreUnderTest) {
	create(t, s, sampleEndpoint("acme"))
	_, err := s.BeginErasure(t.Context(), sampleErasure())
	check(t, err)
	wantCode(t, "CreateEndpoint(marked)", s.CreateEndpoint(t.Context(), sampleEndpoint("acme")), hook.CodeTenantClosing)
	_, err = s.TenantVersion(t.Context(), "acme")
	wantCode(t, "TenantVersion(marked)", err, hook.CodeTenantClosing)
	create(t, s, sampleEndpoint("globex"))
}

func finishNeedsMark(t *testing.T, s StoreUnderTest) {
	check(t, s.PutDataKey(t.Context(), "acme", []byte("k")))
	e, err := s.BeginErasure(t.Context(), sampleErasure())
	check(t, err)
	old := e
	old.Version = 7
	wantCode(t, "FinishErasure(old version)", s.FinishErasure(t.Context(), old), hook.CodeConflict)
	if _, err := s.DataKey(t.Context(), "acme"); err != nil {
		t.Errorf("DataKey() = %v; want the key", err)
	}
	e.Stage = erasure.StageDone
	check(t, s.FinishErasure(t.Context(), e))
	_, err = s.DataKey(t.Context(), "acme")
	wantCode(t, "DataKey(erased)", err, hook.CodeNotFound)
	e.Version++
	wantCode(t, "FinishErasure(again)", s.FinishErasure(t.Context(), e), hook.CodeConflict)
}

// runErasure erases the tenant with a clock of its own.
func runErasure(t *testing.T, s StoreUnderTest, tenant hook.TenantID) erasure.Erasure {
	t.Helper()

	now := storeEpoch()
	clock := func() time.Time { return now }
	queue := memory.NewJobQueue(clock)
	eraser := &erasure.Eraser{Store: s, Queue: queue, Log: slog.New(slog.DiscardHandler), Now: clock}
	e, _, err := eraser.Start(t.Context(), tenant, "key_1")
	check(t, err)
	for steps := 0; ; steps++ {
		at, ok := queue.Next()
		if !ok {
			break
		}
		if steps > 1000 {
			t.Fatal("the job does not end")
		}
		if at.After(now) {
			now = at
		}
		for _, m := range queue.Receive(1) {
			check(t, eraser.Work(t.Context(), m.Job))
			queue.Delete(m.ID)
		}
	}
	e, err = eraser.Erasure(t.Context(), tenant, e.ID)
	check(t, err)
	if e.State() != "finished" || e.EndedAt.IsZero() {
		t.Errorf("Erasure() = %+v; want a finished job", e)
	}
	return e
}

func eraseTenant(t *testing.T, s StoreUnderTest) {
	acme, globex := Furnish(t, s, "acme"), Furnish(t, s, "globex")
	e := runErasure(t, s, "acme")
	want := erasure.Counts{Keys: 3, Endpoints: 2, Events: 4, Deliveries: 6, Attempts: 6, Replays: 1}
	got := e.Removed
	got.Other = 0
	wantSame(t, "removed records", want, got, nil)
	for _, id := range []hook.TenantID{"acme", "globex"} {
		for _, stage := range []erasure.Stage{erasure.StageStop, erasure.StageWalk, erasure.StageScan, erasure.StageFinish} {
			part, err := s.FindRecords(t.Context(), id, stage, "")
			check(t, err)
			if (len(part.Records) == 0) != (id == "acme") {
				t.Errorf("FindRecords(%s, %s) = %v; want records of globex only", id, stage, part.Records)
			}
		}
	}
	wantGone(t, s, acme, hook.CodeNotFound)
	wantGone(t, s, globex, 0)
	for _, id := range []hook.TenantID{"acme", "globex"} {
		changes, _, err := s.AuditRecords(t.Context(), id, hook.AuditSpan{}, "", 10)
		if err != nil || len(changes) != 1 {
			t.Errorf("AuditRecords(%s) = %v, %v; want the record", id, changes, err)
		}
	}
}

// wantGone reads a record of each kind and wants the code; 0: no error.
func wantGone(t *testing.T, s StoreUnderTest, e Estate, want hook.Code) {
	t.Helper()

	reads := map[string]func() error{
		"DataKey":                func() error { _, err := s.DataKey(t.Context(), e.Tenant); return err },
		"KeyByHash":              func() error { _, err := s.KeyByHash(t.Context(), e.Key.Hash); return err },
		"KeyByHash(of the link)": func() error { _, err := s.KeyByHash(t.Context(), e.Link.KeyHash); return err },
		"Link":                   func() error { _, err := s.Link(t.Context(), e.Tenant, e.Link.ID); return err },
		"Job":                    func() error { _, err := s.Job(t.Context(), e.Tenant, e.Job); return err },
		"Endpoint":               func() error { _, err := s.Endpoint(t.Context(), e.Tenant, e.Endpoints[0].ID); return err },
		"EndpointByUID": func() error {
			_, err := s.EndpointByUID(t.Context(), e.Tenant, e.Endpoints[1].UID)
			return err
		},
	}
	for _, event := range e.Events {
		reads["Event "+string(event.ID)] = func() error { _, err := s.Event(t.Context(), event.ID); return err }
	}
	for _, d := range e.Deliveries {
		reads["Delivery "+d.ID.String()] = func() error { _, err := s.Delivery(t.Context(), d.Ref()); return err }
	}
	for name, read := range reads {
		if err := read(); (err == nil) != (want == 0) || err != nil && hook.CodeOf(err) != want {
			t.Errorf("%s of %s = %v; want %s", name, e.Tenant, err, want)
		}
	}
	attempts, err := s.Attempts(t.Context(), e.Deliveries)
	check(t, err)
	outcomes, err := s.JobOutcomes(t.Context(), e.Job)
	check(t, err)
	empty := len(attempts) == 0 && outcomes.Delivered == 0
	for _, endpoint := range append([]hook.Endpoint{e.Deleted}, e.Endpoints...) {
		limits, err := s.Limits(t.Context(), endpoint.ID)
		check(t, err)
		circuit, err := s.Circuit(t.Context(), e.Tenant, endpoint.ID)
		check(t, err)
		history, _, err := s.Notifications(t.Context(), endpoint.ID, "", 10)
		check(t, err)
		hours, err := s.Hours(t.Context(), endpoint.ID, storeEpoch().Add(-24*time.Hour))
		check(t, err)
		if none := len(limits.Leases) == 0 && circuit.Version == 0 && len(history) == 0 && len(hours) == 0; none != (want != 0) {
			t.Errorf("endpoint %s of %s: limits %v, circuit %v, history %v, hours %v", endpoint.ID, e.Tenant, limits, circuit.Version, history, hours)
		}
	}
	if empty != (want != 0) {
		t.Errorf("%s has %d attempts and outcomes %+v", e.Tenant, len(attempts), outcomes)
	}
}

func eraseAndReuse(t *testing.T, s StoreUnderTest) {
	create(t, s, sampleEndpoint("acme"))
	create(t, s, sampleEndpoint("acme"))
	before, err := s.TenantVersion(t.Context(), "acme")
	check(t, err)
	runErasure(t, s, "acme")
	version, err := s.TenantVersion(t.Context(), "acme")
	wantSame(t, "TenantVersion(erased)", int64(0), version, err)
	for range 5 { // a cache may have any version up to before
		create(t, s, sampleEndpoint("acme"))
		version, err = s.TenantVersion(t.Context(), "acme")
		check(t, err)
		if version == before || version == before-1 {
			t.Errorf("TenantVersion(new tenant) = %d, a version of the erased tenant", version)
		}
	}
	all, err := s.Endpoints(t.Context(), "acme")
	if err != nil || len(all) != 5 {
		t.Errorf("Endpoints() = %d, %v; want the 5 new endpoints", len(all), err)
	}
}

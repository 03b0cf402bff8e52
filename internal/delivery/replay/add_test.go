package replay_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
)

// TestEvent_AddedEndpoint sends an event from two months ago to an endpoint that is created only
// then, and to no other endpoint. The age of the delivery counts from the replay.
func TestEvent_AddedEndpoint(t *testing.T) {
	t.Parallel()

	w := setup(t)
	first := w.Endpoint(nil)
	for _, targets := range [][]hook.Endpoint{nil, {first}} {
		e := w.Event("order.paid", start.Add(-60*24*time.Hour), targets...)
		added := w.Endpoint(func(e *hook.Endpoint) { e.UID, e.EventTypes = "late"+string(e.ID), []string{"other"} })
		results, err := w.Replayer().Event(w.Context(), "acme", e.ID, replay.Request{By: "key_0000000000000001", Endpoint: added.UID, Force: true})
		if err != nil || len(results) != 1 || results[0].Err != nil || results[0].Delivery.ID.Endpoint != added.ID || results[0].Delivery.ID.Generation != 2 {
			t.Fatalf("Event(endpoint) = %+v, %v; want generation 2 of %s", results, err, added.ID)
		}
		w.Run()
		stored, err := w.Store.Event(t.Context(), e.ID)
		if err != nil || len(stored.Targets) != len(targets)+1 || stored.Targets[len(targets)] != added.Target() {
			t.Fatalf("Event = %+v, %v; want the endpoint as the last target", stored.Targets, err)
		}
		ref, _ := stored.Ref(added.ID, 2)
		if d := w.Delivery(ref); d.State != hook.StateDelivered || d.CreatedAt.Before(start) || d.By != "key_0000000000000001" {
			t.Errorf("generation 2 = %+v; want it delivered, created now by the key", d)
		}
		ref, _ = stored.Ref(added.ID, 1)
		if d := w.Delivery(ref); d.State != hook.StateCancelled || d.Reason != hook.ReasonAdded || d.Attempts != 0 {
			t.Errorf("generation 1 = %+v; want it cancelled without an attempt", d)
		}
		// A second request replays the second generation.
		results, err = w.Replayer().Event(w.Context(), "acme", e.ID, replay.Request{Endpoint: string(added.ID)})
		if err != nil || len(results) != 1 || results[0].Err != nil || results[0].Delivery.ID.Generation != 3 {
			t.Errorf("Event(endpoint again) = %+v, %v; want generation 3", results, err)
		}
	}
	w.Run()
	for ref, posts := range w.PostsOf() {
		if ref.Endpoint == first.ID || ref.Generation == 1 || posts != 1 {
			t.Errorf("%s had %d POSTs; want one for each later generation of the added endpoints", ref, posts)
		}
	}
}

func TestEvent_AddedEndpoint_Refused(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e, added := w.Event("order.paid", start), w.Endpoint(nil)
	old := w.Event("order.paid", start.Add(-80*24*time.Hour))
	for _, tt := range []struct {
		tenant hook.TenantID
		event  hook.EventID
		to     string
		want   hook.Code
	}{
		{tenant: "acme", event: e.ID, to: string(hook.NewEndpointID()), want: hook.CodeNotFound},
		{tenant: "acme", event: e.ID, to: "no such uid", want: hook.CodeNotFound},
		{tenant: "globex", event: e.ID, to: string(added.ID), want: hook.CodeNotFound},
		{tenant: "acme", event: old.ID, to: string(added.ID), want: hook.CodeConflict}, // expires too soon
	} {
		_, err := w.Replayer().Event(w.Context(), tt.tenant, tt.event, replay.Request{Endpoint: tt.to})
		if err == nil || hook.CodeOf(err) != tt.want {
			t.Errorf("Event(%s to %s) = %v; want %s", tt.event, tt.to, err, tt.want)
		}
	}
	for _, id := range []hook.EventID{e.ID, old.ID} {
		if stored, err := w.Store.Event(t.Context(), id); err != nil || len(stored.Targets) != 0 {
			t.Errorf("Event(%s) = %v, %v; want no target", id, stored.Targets, err)
		}
	}
}

// TestEvent_AddedEndpoint_KilledAtAnyEffect repeats the request after a crash before or after each
// effect. The endpoint gets one POST, of the second generation.
func TestEvent_AddedEndpoint_KilledAtAnyEffect(t *testing.T) {
	t.Parallel()

	for _, after := range []bool{false, true} {
		for n, ended := 1, false; !ended; n++ {
			inTurn(t, func(w *bundle) {
				t := w.T
				e, added := w.Event("order.paid", start.Add(-60*24*time.Hour)), w.Endpoint(nil)
				ask := replay.Request{By: "key_0000000000000001", Endpoint: string(added.ID)}
				w.Crash.Arm(n, after)
				_, _ = w.Replayer().Event(w.Context(), "acme", e.ID, ask)
				if !w.Crash.Restart() {
					if n < 5 {
						t.Fatalf("the request has %d effects; want at least 4: record, target, task, replay", n-1)
					}
					ended = true
					return
				}
				name := fmt.Sprintf("killed at effect %d (after: %t)", n, after)
				results, err := w.Replayer().Event(w.Context(), "acme", e.ID, ask)
				if err != nil || len(results) != 1 || results[0].Err != nil && hook.CodeOf(results[0].Err) != hook.CodeReplayed && hook.CodeOf(results[0].Err) != hook.CodeInProgress {
					t.Errorf("%s: the repeated request = %+v, %v", name, results, err)
				}
				w.Run()
				stored, err := w.Store.Event(t.Context(), e.ID)
				if err != nil || len(stored.Targets) != 1 {
					t.Fatalf("%s: targets = %v, %v; want the endpoint once", name, stored.Targets, err)
				}
				ref, _ := stored.Ref(added.ID, 2)
				if d := w.Delivery(ref); d.State != hook.StateDelivered {
					t.Errorf("%s: generation 2 is %s; want delivered", name, d.State)
				}
				for posted, posts := range w.PostsOf() {
					if posted != ref || posts != 1 {
						t.Errorf("%s: %s had %d POSTs; want one of %s", name, posted, posts, ref)
					}
				}
			})
		}
	}
}

// TestWork_AddsEndpoint runs a job that sends the events of its filter to an endpoint created
// later: events of two endpoints, some for both, and events without a target. The endpoint gets
// each event once, even if the worker is killed before or after any effect.
func TestWork_AddsEndpoint(t *testing.T) {
	t.Parallel()

	for _, after := range []bool{false, true} {
		for n, ended := 0, false; !ended; n++ {
			inTurn(t, func(w *bundle) {
				t := w.T
				a, b := w.Endpoint(nil), w.Endpoint(nil)
				at := start.Add(-60 * 24 * time.Hour)
				var want []hook.Event
				post := func(eventType string, targets ...hook.Endpoint) hook.Event {
					at = at.Add(time.Second)
					e := w.Event(eventType, at, targets...)
					for _, target := range targets {
						d := hook.QueuedDelivery(e, target.Target())
						d.State, d.Attempts, d.Last = hook.StateDelivered, 1, hook.Outcome{Class: hook.ClassDelivered, Status: 200}
						w.Save(d)
					}
					return e
				}
				post("order.early", a)
				from := at.Add(time.Second)
				for range 2 {
					want = append(want, post("order.paid", a), post("order.paid", b, a), post("order.paid"))
					post("user.created", a)
					post("user.created")
				}
				late := w.Endpoint(nil)
				had := post("order.paid", a, late)
				j := w.start(replay.JobRequest{Filter: replay.Filter{Types: []string{"order.*"}, From: from}, Terms: replay.Terms{Rate: 0.3}, AddTo: string(late.ID)})
				w.Crash.Arm(n, after)
				w.Run()
				died := w.Crash.Deaths() > 0
				if n > 0 && !died {
					if n < 20 {
						t.Errorf("the job has %d effects; want at least 20", n-1)
					}
					ended = true
					return
				}
				name := fmt.Sprintf("killed at effect %d (after: %t)", n, after)
				if got := w.job(j.ID); got.State != replay.JobFinished || got.Enqueued != len(want) || got.Delivered != len(want) || got.Selected != got.Enqueued+got.Skipped {
					t.Errorf("%s: job = %+v; want %d enqueued and delivered", name, got, len(want))
				}
				posted := w.PostsOf()
				for _, e := range want {
					stored, err := w.Store.Event(t.Context(), e.ID)
					ref, ok := stored.Ref(late.ID, 2)
					if err != nil || !ok || posted[ref] != 1 {
						t.Errorf("%s: event %s had %d POSTs to the added endpoint, %v; want one", name, e.ID, posted[ref], err)
					}
				}
				if len(posted) != len(want) {
					t.Errorf("%s: POSTs = %v; want %d", name, posted, len(want))
				}
				if stored, err := w.Store.Event(t.Context(), had.ID); err != nil || len(stored.Targets) != 2 {
					t.Errorf("%s: the event that has the endpoint = %v, %v", name, stored.Targets, err)
				}
			})
		}
	}
}

// addRace runs race before the first AddTarget.
type addRace struct {
	replay.Store
	race func()
}

func (s *addRace) AddTarget(ctx context.Context, e hook.Event, target hook.Target) error {
	if race := s.race; race != nil {
		s.race = nil
		race()
	}
	return s.Store.AddTarget(ctx, e, target)
}

// Two requests add the same endpoint, and the number of its shards changes between them.
// Afterwards the event has the endpoint once, and every task can be processed.
func TestEvent_AddedEndpoint_ShardedMeanwhile(t *testing.T) {
	t.Parallel()

	w := setup(t)
	added := w.Endpoint(nil)
	e := w.Event("order.paid", start.Add(-time.Hour))
	for hook.ShardOf(e.ID, hook.MaxShards) == 0 { // the same shard as before
		e = w.Event("order.paid", start.Add(-time.Hour))
	}
	first := w.Replayer()
	first.Store = &addRace{Store: first.Store, race: func() {
		changed, err := w.Store.Endpoint(t.Context(), "acme", added.ID)
		if err != nil {
			t.Fatal(err)
		}
		changed.Shards = hook.MaxShards
		if err := w.Store.UpdateEndpoint(t.Context(), changed); err != nil {
			t.Fatal(err)
		}
		if got, err := w.Replayer().Event(w.Context(), "acme", e.ID, replay.Request{Endpoint: string(added.ID)}); err != nil || got[0].Err != nil {
			t.Fatalf("the second request = %+v, %v", got, err)
		}
	}}
	if _, err := first.Event(w.Context(), "acme", e.ID, replay.Request{Endpoint: string(added.ID)}); err != nil {
		t.Errorf("the first request = %v; want nil", err)
	}
	stored, err := w.Store.Event(t.Context(), e.ID)
	if err != nil || len(stored.Targets) != 1 {
		t.Errorf("targets = %+v, %v; want the endpoint once", stored.Targets, err)
	}
	for range 3 {
		w.Clock.Pass(time.Hour)
		if received, failed := w.Invoke(hook.QueueReplay); failed > 0 {
			t.Errorf("%d of %d messages fail", failed, received)
		}
	}
}

// TestEvent_AddedEndpoint_asks checks that a replay leads no event past an endpoint's subscription and
// filter, unless it is forced.
func TestEvent_AddedEndpoint_asks(t *testing.T) {
	t.Parallel()

	w := setup(t)
	e := w.Event("order.paid", start)
	for _, tt := range []struct {
		name, types, filter string
		force, want         bool
	}{
		{name: "subscribed", types: "order.*", want: true},
		{name: "not subscribed", types: "user.*"},
		{name: "not subscribed, and forced", types: "user.*", force: true, want: true},
		{name: "a filter that matches", types: "*", filter: `{"type": ["order.paid"]}`, want: true},
		{name: "a filter that does not match", types: "*", filter: `{"payload": {"n": ["no such value"]}}`},
		{name: "a filter that does not match, and forced", types: "*", filter: `{"payload": {"n": ["no such value"]}}`, force: true, want: true},
	} {
		to := w.Endpoint(func(e *hook.Endpoint) { e.EventTypes, e.Filter = []string{tt.types}, []byte(tt.filter) })
		_, err := w.Replayer().Event(w.Context(), "acme", e.ID, replay.Request{Endpoint: string(to.ID), Force: tt.force})
		if tt.want && err != nil || !tt.want && hook.CodeOf(err) != hook.CodeConflict {
			t.Errorf("%s: %v; want sent: %t", tt.name, err, tt.want)
		}
	}
}

func TestJob_AddTo_asks(t *testing.T) {
	t.Parallel()

	w := setup(t)
	first := w.Endpoint(nil)
	for _, eventType := range []string{"order.paid", "user.created"} {
		e := w.Event(eventType, start.Add(-time.Hour), first)
		d := hook.QueuedDelivery(e, first.Target())
		d.State, d.Attempts, d.Last = hook.StateDelivered, 1, hook.Outcome{Class: hook.ClassDelivered, Status: 200}
		w.Save(d)
	}
	late := w.Endpoint(func(e *hook.Endpoint) { e.EventTypes = []string{"order.*"} })
	j := w.start(replay.JobRequest{Terms: replay.Terms{Rate: 50}, AddTo: string(late.ID)})
	w.Run()
	if got := w.job(j.ID); got.State != replay.JobFinished || got.Delivered != 1 || got.SkippedBy[replay.SkipUnasked] != 1 {
		t.Errorf("job = %+v; want one delivered, and one skipped because the endpoint does not ask for it", got)
	}
}

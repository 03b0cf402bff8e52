package hook_test

import (
	"encoding/json"
	"testing"
	"time"

	"surehook.example/surehook/internal/hook"
)

// refOf returns the ref of a delivery of an event accepted at replayedAt.
func refOf(event hook.EventID, endpoint hook.EndpointID, generation int) hook.DeliveryRef {
	return hook.DeliveryRef{
		DeliveryID: hook.DeliveryID{Event: event, Endpoint: endpoint, Generation: generation}, AcceptedAt: replayedAt.UnixMilli(),
	}
}

func TestDeliveryRef_JSON(t *testing.T) {
	t.Parallel()

	const id = "dlv_01jd3m5k8zf4v9q2w7x6y5t4r3_0123456789abcdef_2"
	ref := refOf(someEvent, someEndpoint, 2)
	ref.AcceptedAt = 1772600767008
	for shard, want := range map[int]string{0: `"` + id + `@1772600767008"`, 15: `"` + id + `@1772600767008/15"`} {
		ref.Shard = shard
		got, err := json.Marshal(ref)
		if err != nil || string(got) != want {
			t.Errorf("Marshal(%+v) = %s, %v; want %s", ref, got, err, want)
		}
		var back hook.DeliveryRef
		if err := json.Unmarshal(got, &back); err != nil || back != ref {
			t.Errorf("Unmarshal(%s) = %+v, %v; want %+v", got, back, err, ref)
		}
	}
	for _, text := range []string{
		"", id, id + "@", id + "@0", id + "@-1", id + "@01", id + "@+1", id + "@1/", id + "@1/0", id + "@1/16", id + "@1/-1", id + "@1/1/1", "x@1", "@1", id + "@1x",
		id + "@99999999999999999999",
	} {
		var back hook.DeliveryRef
		if err := back.UnmarshalText([]byte(text)); err == nil || back != (hook.DeliveryRef{}) {
			t.Errorf("UnmarshalText(%q) = %+v, %v; want an error and nothing", text, back, err)
		}
	}
}

// The shard is part of stored keys: with another hash, stored deliveries would not be found.
func TestEvent_Ref(t *testing.T) {
	t.Parallel()

	e := hook.Event{ID: someEvent, AcceptedAt: replayedAt.Add(999 * time.Microsecond)}
	for endpoint, shards := range map[hook.EndpointID]int{"ep_a": 1, "ep_b": 2, "ep_c": 16} {
		e.Targets = append(e.Targets, hook.Target{Endpoint: endpoint, Shards: shards})
	}
	for endpoint, shard := range map[hook.EndpointID]int{"ep_a": 0, "ep_b": 1, "ep_c": 3} {
		want := refOf(someEvent, endpoint, 3)
		want.Shard = shard
		if got, ok := e.Ref(endpoint, 3); !ok || got != want {
			t.Errorf("Ref(%s, 3) = %s in shard %d, %t; want %s in shard %d", endpoint, got, got.Shard, ok, want, shard)
		}
	}
	if got, ok := e.Ref(someEndpoint, 1); ok {
		t.Errorf("Ref(no target) = %+v; want none", got)
	}
}

func TestEndpoint_Sharded(t *testing.T) {
	t.Parallel()

	e := hook.Endpoint{ID: someEndpoint}
	for _, tt := range []struct{ shards, widest int }{{shards: 1, widest: 1}, {shards: 4, widest: 4}, {shards: 2, widest: 4}, {shards: 16, widest: 16}, {shards: 1, widest: 16}} {
		e = e.Sharded(tt.shards)
		if e.Target().Shards != tt.shards || e.Widest().Shards != tt.widest {
			t.Errorf("Sharded(%d): new events have %d shards and readers look at %d; want %d and %d",
				tt.shards, e.Target().Shards, e.Widest().Shards, tt.shards, tt.widest)
		}
	}
	if none := (hook.Endpoint{ID: someEndpoint}); none.Target().Shards != 1 || none.Widest().Shards != 1 {
		t.Errorf("an endpoint without shards has %d; want 1", none.Target().Shards)
	}
}

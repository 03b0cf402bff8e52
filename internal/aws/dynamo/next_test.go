package dynamo_test

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/aws/dynamo"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
)

// updated returns the attributes that the update of a request sets and removes, by the
// key of the item.
func updated(r request, pk string) (set map[string]any, removed []string) {
	updates := []body{r.body}
	writes, _ := r.body.at("TransactItems").([]any)
	for i := range writes {
		u, _ := r.body.at("TransactItems", i, "Update").(map[string]any)
		updates = append(updates, u)
	}
	set = make(map[string]any)
	for _, u := range updates {
		if u.at("Key", "pk", "S") != pk {
			continue
		}
		expression, _ := u.at("UpdateExpression").(string)
		sets, removes, _ := strings.Cut(expression, " REMOVE ")
		for _, m := range regexp.MustCompile(`(#f\d+) = (:f\d+)`).FindAllStringSubmatch(sets, -1) {
			name, _ := u.at("ExpressionAttributeNames", m[1]).(string)
			set[name] = u.at("ExpressionAttributeValues", m[2])
		}
		for placeholder := range strings.SplitSeq(removes, ", ") {
			name, _ := u.at("ExpressionAttributeNames", placeholder).(string)
			removed = append(removed, name)
		}
	}
	return set, removed
}

// TestStore_NextVersion checks every record that is read, changed and written: a further version
// writes the same attributes as a first one, and removes those of the others that this build
// knows. So the attributes of a later build stay.
func TestStore_NextVersion(t *testing.T) {
	t.Parallel()

	changedEndpoint := endpoint("")
	changedEndpoint.Version = 3
	ended := begun()
	for _, tt := range []struct {
		name, pk string
		save     func(ctx context.Context, s *dynamo.Store, version int64) error
		removed  string // one of the known attributes without a value
	}{
		{name: "delivery", pk: "endpoint#" + string(endpointID) + "#00", removed: "next_at", save: func(ctx context.Context, s *dynamo.Store, version int64) error {
			return s.SaveDelivery(ctx, delivery(version), nil)
		}},
		{name: "circuit", pk: "endpoint#" + string(endpointID), removed: "waiting", save: func(ctx context.Context, s *dynamo.Store, version int64) error {
			return s.SaveCircuit(ctx, record(version))
		}},
		{name: "endpoint", pk: "endpoint#" + string(endpointID), removed: "metadata", save: func(ctx context.Context, s *dynamo.Store, version int64) error {
			if version == 0 {
				return s.CreateEndpoint(ctx, changedEndpoint)
			}
			return s.DisableEndpoint(ctx, changedEndpoint, hook.AuditRecord{})
		}},
		{name: "replay job", pk: "tenant#acme", removed: "ended_at", save: func(ctx context.Context, s *dynamo.Store, version int64) error {
			j := job(version)
			j.State = replay.JobRunning
			return s.SaveJob(ctx, j)
		}},
		{name: "erasure", pk: "erasure#acme", removed: "ended_at", save: func(ctx context.Context, s *dynamo.Store, version int64) error {
			if ended.Version = version; version == 0 {
				_, err := s.BeginErasure(ctx, ended)
				return err
			}
			return s.SaveErasure(ctx, ended)
		}},
		{name: "event type", pk: "event-types", removed: "schema", save: func(ctx context.Context, s *dynamo.Store, version int64) error {
			before := hook.EventType{Version: version}
			if version > 0 {
				before.Name = "order.paid"
			}
			return s.PutEventType(ctx, before, hook.EventType{Name: "order.paid", CreatedAt: epoch, UpdatedAt: epoch.Add(time.Second)})
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w, s := newWire(t)
			if err := tt.save(t.Context(), s, 0); err != nil {
				t.Fatal(err)
			}
			first := putItem(w.sent()[0], tt.pk)
			w, s = newWire(t)
			if err := tt.save(t.Context(), s, 3); err != nil {
				t.Fatal(err)
			}
			set, removed := updated(w.only(t), tt.pk)
			for _, k := range []string{"pk", "sk", "version", "w1"} {
				delete(first, k)
				delete(set, k)
			}
			want, _ := json.Marshal(first)
			if got, _ := json.Marshal(set); string(got) != string(want) {
				t.Errorf("the next version sets\n%s; want\n%s", got, want)
			}
			if !slices.Contains(removed, tt.removed) {
				t.Errorf("the next version removes %v; want also %s", removed, tt.removed)
			}
		})
	}
}

// putItem returns the put item with the hash key.
func putItem(r request, pk string) map[string]any {
	items := []any{r.body.at("Item")}
	writes, _ := r.body.at("TransactItems").([]any)
	for i := range writes {
		items = append(items, r.body.at("TransactItems", i, "Put", "Item"))
	}
	for _, it := range items {
		if m, ok := it.(map[string]any); ok && body(m).at("pk", "S") == pk && m["version"] != nil {
			return m
		}
	}
	return nil
}

package dynamo_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"surehook.example/surehook/internal/aws/dynamo"
	"surehook.example/surehook/internal/delivery/replay"
	"surehook.example/surehook/internal/hook"
	"surehook.example/surehook/internal/names"
)

func TestStore_WritesAreConditional(t *testing.T) {
	t.Parallel()

	const absent = "attribute_not_exists(pk)"
	n := func(v string) any { return map[string]any{"N": v} }
	s := func(v string) any { return map[string]any{"S": v} }
	type guard struct {
		Write, PK, SK, Condition string
		Values                   any
	}
	version := func(v string) any { return map[string]any{":version": n(v)} }
	count := func(more, change, digest string) map[string]any {
		return map[string]any{
			":one": n("1"), ":more": n(more), ":list": s("tenants"), ":tenant": s("acme"), ":change": s(string(endpointID) + "/" + change), ":digest": n(digest),
		}
	}
	// The digest of a version is 48 bits of the SHA-256 of the change.
	created, updated, deleted := count("1", "1", "224984231191911"), count("0", "4", "-64163464340506"), count("-1", "4", "-134850385159156")
	created[":most"] = n("500")
	createdAt := maps.Clone(created)
	createdAt[":at"] = n("7")
	const tenant, ev, ep = "tenant#acme", "event#" + string(eventID), "endpoint#" + string(endpointID)
	const placed = "#2026-01-02T03:04:05.678Z#" + string(eventID) + "#0001"
	const url = "url#0f115db062b7c0dd030b16878c99dea5c354b49dc37b38eb8846179c7783e9d7" // of https://example.com/
	urls := func(more string) map[string]any { return map[string]any{":more": n(more)} }
	created10 := urls("1")
	created10[":most"] = n("10")
	jobs := map[string]any{":job": map[string]any{"SS": []any{string(jobID)}}}
	opened := map[string]any{":job": jobs[":job"], ":most": n("10")}
	const (
		room       = "attribute_not_exists(endpoints) OR endpoints < :most"
		tenantRoom = "attribute_not_exists(closing) AND (attribute_not_exists(endpoints) OR endpoints < limits.endpoints OR (attribute_not_exists(limits.endpoints) AND endpoints < :most))"
	)

	row := guard{Write: "Update", PK: tenant, SK: ep, Condition: "", Values: map[string]any{":f2": s(string(endpointID)), ":f8": n("4")}}

	tests := []struct {
		name string
		call func(ctx context.Context, s *dynamo.Store) error
		want []guard
	}{
		{
			name: "a new event requires an absent or expired item",
			call: func(ctx context.Context, s *dynamo.Store) error { return s.PutEvent(ctx, event()) },
			want: []guard{{
				Write: "PutItem", PK: ev, SK: "event", Condition: absent + " OR expires_at <= :now",
				Values: map[string]any{":now": map[string]any{"N": "1767323045"}},
			}},
		},
		{
			name: "a first save requires an absent item",
			call: func(ctx context.Context, s *dynamo.Store) error { return s.SaveDelivery(ctx, delivery(0), nil) },
			want: []guard{{Write: "PutItem", PK: ep + "#00", SK: "delivery" + placed, Condition: absent, Values: nil}},
		},
		{
			name: "a later save requires the version of the last read",
			call: func(ctx context.Context, s *dynamo.Store) error { return s.SaveDelivery(ctx, delivery(4), nil) },
			want: []guard{{Write: "UpdateItem", PK: ep + "#00", SK: "delivery" + placed, Condition: "version = :version AND attribute_not_exists(recent)", Values: version("4")}},
		},
		{
			name: "a save with an attempt is one write",
			call: func(ctx context.Context, s *dynamo.Store) error { return s.SaveDelivery(ctx, delivery(4), attempt()) },
			want: []guard{{Write: "UpdateItem", PK: ep + "#00", SK: "delivery" + placed, Condition: "version = :version AND attribute_not_exists(recent)", Values: version("4")}},
		},
		{
			name: "a save with an attempt moves the one before if they are long",
			call: func(ctx context.Context, s *dynamo.Store) error {
				d := delivery(4)
				d.Recent = []hook.Attempt{*noisy(1, 1000)}
				return s.SaveDelivery(ctx, d, noisy(2, 1000))
			},
			want: []guard{
				{Write: "PutItem", PK: ep + "#00", SK: "attempt" + placed + "#001", Condition: absent, Values: nil},
				{Write: "UpdateItem", PK: ep + "#00", SK: "delivery" + placed, Condition: "version = :version", Values: version("4")},
			},
		},
		{
			name: "an erasure moves the attempt that it erased in the delivery's record",
			call: func(ctx context.Context, s *dynamo.Store) error {
				d := delivery(4)
				d.Recent = []hook.Attempt{*attempt()}
				return s.EraseAttempts(ctx, d)
			},
			want: []guard{{Write: "PutItem", PK: ep + "#00", SK: "attempt" + placed + "#001", Condition: absent, Values: nil}},
		},
		{
			name: "a first save with a long attempt is one transaction",
			call: func(ctx context.Context, s *dynamo.Store) error {
				return s.SaveDelivery(ctx, delivery(0), longAttempt())
			},
			want: []guard{
				{Write: "Put", PK: ep + "#00", SK: "delivery" + placed, Condition: absent, Values: nil},
				{Write: "Put", PK: ep + "#00", SK: "attempt" + placed + "#001", Condition: "", Values: nil},
			},
		},
		{
			name: "a later save with a long attempt is one transaction",
			call: func(ctx context.Context, s *dynamo.Store) error {
				return s.SaveDelivery(ctx, delivery(4), longAttempt())
			},
			want: []guard{
				{Write: "Update", PK: ep + "#00", SK: "delivery" + placed, Condition: "version = :version AND attribute_not_exists(recent)", Values: version("4")},
				{Write: "Put", PK: ep + "#00", SK: "attempt" + placed + "#001", Condition: "", Values: nil},
			},
		},
		{
			name: "a first circuit requires an absent item",
			call: func(ctx context.Context, s *dynamo.Store) error { return s.SaveCircuit(ctx, record(0)) },
			want: []guard{{Write: "PutItem", PK: ep, SK: "circuit", Condition: absent, Values: nil}},
		},
		{
			name: "a later circuit requires the version of the last read",
			call: func(ctx context.Context, s *dynamo.Store) error { return s.SaveCircuit(ctx, record(4)) },
			want: []guard{{Write: "UpdateItem", PK: ep, SK: "circuit", Condition: "version = :version", Values: version("4")}},
		},
		{
			name: "a first job requires an absent item and a place among the open jobs",
			call: func(ctx context.Context, s *dynamo.Store) error { return s.SaveJob(ctx, job(0)) },
			want: []guard{
				{Write: "Put", PK: tenant, SK: "replay#" + string(jobID), Condition: absent, Values: nil},
				{Write: "Update", PK: tenant, SK: "open-replays", Condition: "attribute_not_exists(jobs) OR size(jobs) < :most", Values: opened},
			},
		},
		{
			name: "an ended job gives the place back",
			call: func(ctx context.Context, s *dynamo.Store) error {
				j := job(4)
				j.State = replay.JobFinished
				return s.SaveJob(ctx, j)
			},
			want: []guard{
				{Write: "Update", PK: tenant, SK: "replay#" + string(jobID), Condition: "version = :version", Values: version("4")},
				{Write: "Update", PK: tenant, SK: "open-replays", Condition: "", Values: jobs},
			},
		},
		{
			name: "a later job requires the version of the last read",
			call: func(ctx context.Context, s *dynamo.Store) error { return s.SaveJob(ctx, job(4)) },
			want: []guard{{Write: "UpdateItem", PK: tenant, SK: "replay#" + string(jobID), Condition: "version = :version", Values: version("4")}},
		},
		{
			name: "an endpoint that requires a version of the tenant",
			call: func(ctx context.Context, s *dynamo.Store) error {
				e := endpoint("")
				e.TenantVersion = new(int64(7))
				return s.CreateEndpoint(ctx, e)
			},
			want: []guard{
				{Write: "Put", PK: ep, SK: "endpoint", Condition: absent, Values: nil},
				{Write: "Update", PK: tenant, SK: url, Condition: room, Values: created10},
				{Write: "Update", PK: tenant, SK: "tenant", Condition: tenantRoom + " AND version = :at", Values: createdAt},
				{Write: "Put", PK: tenant, SK: ep, Condition: "", Values: nil},
			},
		},
		{
			name: "a new endpoint requires an absent item, a count below the limit and a free uid",
			call: func(ctx context.Context, s *dynamo.Store) error { return s.CreateEndpoint(ctx, endpoint("billing")) },
			want: []guard{
				{Write: "Put", PK: ep, SK: "endpoint", Condition: absent, Values: nil},
				{Write: "Put", PK: tenant, SK: "uid#billing", Condition: absent, Values: nil},
				{Write: "Update", PK: tenant, SK: url, Condition: room, Values: created10},
				{Write: "Update", PK: tenant, SK: "tenant", Condition: tenantRoom, Values: created},
				{Write: "Put", PK: tenant, SK: "endpoint#ep_0123456789abcdef", Condition: "", Values: nil},
			},
		},
		{
			name: "an update requires the version of the last read and the tenant",
			call: func(ctx context.Context, s *dynamo.Store) error { return s.UpdateEndpoint(ctx, endpoint("billing")) },
			want: []guard{
				{
					Write: "Update", PK: ep, SK: "endpoint", Condition: "version = :version AND tenant = :tenant AND #url = :url AND uid = :uid",
					Values: map[string]any{":version": n("3"), ":tenant": s("acme"), ":url": s("https://example.com"), ":uid": s("billing")},
				},
				{Write: "Update", PK: tenant, SK: "tenant", Condition: "", Values: updated},
				row,
			},
		},
		{
			name: "a disabling has the record in the same transaction",
			call: func(ctx context.Context, s *dynamo.Store) error {
				return s.DisableEndpoint(ctx, endpoint(""), hook.AuditRecord{ID: "aud_1", Tenant: "acme", At: time.UnixMilli(1).UTC()})
			},
			want: []guard{
				{
					Write: "Update", PK: ep, SK: "endpoint",
					Condition: "version = :version AND tenant = :tenant AND #url = :url AND attribute_not_exists(uid)",
					Values:    map[string]any{":version": n("3"), ":tenant": s("acme"), ":url": s("https://example.com")},
				},
				{Write: "Update", PK: tenant, SK: "tenant", Condition: "", Values: updated},
				{Write: "Put", PK: "audit#acme", SK: "audit#1970-01-01T00:00:00.001Z#aud_1", Condition: "", Values: nil},
				row,
			},
		},
		{
			name: "a move requires the URL of the last read and a place at the new URL",
			call: func(ctx context.Context, s *dynamo.Store) error {
				return s.MoveEndpoint(ctx, endpoint(""), "https://example.org/")
			},
			want: []guard{
				{
					Write: "Update", PK: ep, SK: "endpoint",
					Condition: "version = :version AND tenant = :tenant AND #url = :url AND attribute_not_exists(uid)",
					Values:    map[string]any{":version": n("3"), ":tenant": s("acme"), ":url": s("https://example.org/")},
				},
				{Write: "Update", PK: tenant, SK: "tenant", Condition: "", Values: updated},
				{Write: "Update", PK: tenant, SK: url, Condition: room, Values: created10},
				{Write: "Update", PK: tenant, SK: "url#8198d1bac40a1033653a78e48800cefc9e6b974ff075c66e5548b5c1e145a2b0", Condition: "", Values: urls("-1")},
				row,
			},
		},
		{
			name: "a delete requires the version of the last read and the tenant",
			call: func(ctx context.Context, s *dynamo.Store) error { return s.DeleteEndpoint(ctx, endpoint("")) },
			want: []guard{
				{
					Write: "Delete", PK: ep, SK: "endpoint",
					Condition: "version = :version AND tenant = :tenant AND #url = :url AND attribute_not_exists(uid)",
					Values:    map[string]any{":version": n("3"), ":tenant": s("acme"), ":url": s("https://example.com")},
				},
				{Write: "Update", PK: tenant, SK: "tenant", Condition: "", Values: deleted},
				{Write: "Update", PK: tenant, SK: url, Condition: "", Values: urls("-1")},
				{Write: "Delete", PK: tenant, SK: "endpoint#ep_0123456789abcdef", Condition: "", Values: nil},
			},
		},
		{
			name: "the code of a portal link is used once, with its key",
			call: func(ctx context.Context, s *dynamo.Store) error { return s.OpenLink(ctx, openedLink()) },
			want: []guard{
				{Write: "Update", PK: tenant, SK: "link#key_1", Condition: "attribute_exists(pk) AND attribute_not_exists(#hash)", Values: map[string]any{":hash": s("h")}},
				{Write: "Put", PK: "key#h", SK: "key", Condition: absent, Values: nil},
			},
		},
		{
			name: "an opened portal link is removed with its key",
			call: func(ctx context.Context, s *dynamo.Store) error { return s.RemoveLink(ctx, openedLink()) },
			want: []guard{
				{Write: "Delete", PK: tenant, SK: "link#key_1", Condition: "#hash = :hash", Values: map[string]any{":hash": s("h")}},
				{Write: "Delete", PK: "key#h", SK: "key", Condition: "", Values: nil},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w, store := newWire(t)
			if err := tt.call(t.Context(), store); err != nil {
				t.Fatal(err)
			}
			var got []guard
			add := func(write string, b body) {
				keys := "Item"
				if !strings.HasPrefix(write, "Put") {
					keys = "Key"
				}
				str := func(path ...any) string { v, _ := b.at(path...).(string); return v }
				g := guard{write, str(keys, "pk", "S"), str(keys, "sk", "S"), str("ConditionExpression"), b.at("ExpressionAttributeValues")}
				got = append(got, g)
			}
			sent := w.sent()[0]
			for _, r := range w.sent() {
				if r.op == "PutItem" || r.op == "UpdateItem" {
					add(r.op, r.body)
				}
			}
			writes, _ := sent.body.at("TransactItems").([]any)
			for i := range writes {
				for _, kind := range []string{"Put", "Update", "Delete"} {
					if b, ok := sent.body.at("TransactItems", i, kind).(map[string]any); ok {
						add(kind, b)
					}
				}
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreMapEntries(func(name string, _ any) bool { return strings.HasPrefix(name, ":f") /* attributes, and :first */ })); diff != "" {
				t.Errorf("writes sent (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStore_ReadsAreConsistent(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name, op string
		call     func(ctx context.Context, s *dynamo.Store) error
		flag     []any // path to ConsistentRead in the request
	}{
		{name: "Load", op: "BatchGetItem", call: func(ctx context.Context, s *dynamo.Store) error {
			_, err := s.Load(ctx, []hook.Task{hook.NewTask("acme", delivery(0).Ref(), 1)})
			return err
		}, flag: []any{"RequestItems", "table", "ConsistentRead"}},
		{name: "Event", op: "GetItem", call: func(ctx context.Context, s *dynamo.Store) error {
			_, err := s.Event(ctx, eventID)
			return err
		}, flag: []any{"ConsistentRead"}},
		{name: "Delivery", op: "GetItem", call: func(ctx context.Context, s *dynamo.Store) error {
			_, err := s.Delivery(ctx, delivery(0).Ref())
			return err
		}, flag: []any{"ConsistentRead"}},
		{name: "Endpoint", op: "GetItem", call: func(ctx context.Context, s *dynamo.Store) error {
			_, err := s.Endpoint(ctx, "acme", endpointID)
			return err
		}, flag: []any{"ConsistentRead"}},
		{name: "Circuit", op: "GetItem", call: func(ctx context.Context, s *dynamo.Store) error {
			_, err := s.Circuit(ctx, "acme", endpointID)
			return err
		}, flag: []any{"ConsistentRead"}},
		{name: "Limits", op: "GetItem", call: func(ctx context.Context, s *dynamo.Store) error {
			_, err := s.Limits(ctx, endpointID)
			return err
		}, flag: []any{"ConsistentRead"}},
		{name: "DeliveriesByRef", op: "BatchGetItem", call: func(ctx context.Context, s *dynamo.Store) error {
			_, err := s.DeliveriesByRef(ctx, []hook.DeliveryRef{delivery(0).Ref()})
			return err
		}, flag: []any{"RequestItems", "table", "ConsistentRead"}},
		{name: "Job", op: "GetItem", call: func(ctx context.Context, s *dynamo.Store) error {
			_, err := s.Job(ctx, "acme", jobID)
			return err
		}, flag: []any{"ConsistentRead"}},
		{name: "Jobs", op: "Query", call: func(ctx context.Context, s *dynamo.Store) error {
			_, err := s.Jobs(ctx, "acme", "", 1)
			return err
		}, flag: []any{"ConsistentRead"}},
		{name: "JobOutcomes", op: "Query", call: func(ctx context.Context, s *dynamo.Store) error {
			_, err := s.JobOutcomes(ctx, jobID)
			return err
		}, flag: []any{"ConsistentRead"}},
		{name: "EndpointByID", op: "GetItem", call: func(ctx context.Context, s *dynamo.Store) error {
			_, err := s.EndpointByID(ctx, endpointID)
			return err
		}, flag: []any{"ConsistentRead"}},
		{name: "TenantVersion", op: "GetItem", call: func(ctx context.Context, s *dynamo.Store) error {
			_, err := s.TenantVersion(ctx, "acme")
			return err
		}, flag: []any{"ConsistentRead"}},
		{name: "TenantLimits", op: "GetItem", call: func(ctx context.Context, s *dynamo.Store) error {
			_, err := s.TenantLimits(ctx, "acme")
			return err
		}, flag: []any{"ConsistentRead"}},
		{name: "Link", op: "GetItem", call: func(ctx context.Context, s *dynamo.Store) error {
			_, err := s.Link(ctx, "acme", "key_1")
			return err
		}, flag: []any{"ConsistentRead"}},
		{name: "KeyByHash", op: "GetItem", call: func(ctx context.Context, s *dynamo.Store) error {
			_, err := s.KeyByHash(ctx, "h") // API Gateway caches a refusal for a minute, so a new key must be found at once
			return err
		}, flag: []any{"ConsistentRead"}},
		{name: "Endpoints", op: "Query", call: func(ctx context.Context, s *dynamo.Store) error {
			_, err := s.Endpoints(ctx, "acme")
			return err
		}, flag: []any{"ConsistentRead"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w, store := newWire(t)
			if err := tt.call(t.Context(), store); err != nil && hook.CodeOf(err) != hook.CodeNotFound {
				t.Fatal(err)
			}
			if sent := w.only(t); sent.op != tt.op || sent.body.at(tt.flag...) != true {
				t.Errorf("%s sent %s with ConsistentRead %v; want %s with true", tt.name, sent.op, sent.body.at(tt.flag...), tt.op)
			}
		})
	}
}

func TestStore_Load_ReadsABatchInOneRequest(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name              string
		tasks, generation int
		want              int
	}{
		{name: "the event, endpoint, circuit and delivery of each", tasks: 25, generation: 1, want: 100},
		{name: "for replays, the previous delivery, too", tasks: 20, generation: 2, want: 100},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			tasks := make([]hook.Task, tt.tasks) // distinct events and endpoints
			for i := range tasks {
				id := delivery(0).Ref()
				id.Event, id.Endpoint, id.Generation = hook.EventID(fmt.Sprintf("evt_%d", i)), hook.NewEndpointID(), tt.generation
				tasks[i] = hook.NewTask("acme", id, 1)
			}
			w, store := newWire(t)
			if _, err := store.Load(t.Context(), tasks); err != nil {
				t.Fatal(err)
			}
			if keys, _ := w.only(t).body.at("RequestItems", "table", "Keys").([]any); len(keys) != tt.want {
				t.Errorf("Load(%d tasks) reads %d items; want %d", tt.tasks, len(keys), tt.want)
			}
		})
	}
}

// An endpoint's key does not name the tenant, so the store compares the tenants.
func TestStore_AnotherTenantsEndpointIsNotFound(t *testing.T) {
	t.Parallel()

	const item = `{"pk":{"S":"endpoint#ep_0123456789abcdef"},"sk":{"S":"endpoint"},"id":{"S":"ep_0123456789abcdef"},"tenant":{"S":"globex"},"version":{"N":"2"}}`
	_, store := newWire(t, answer{body: `{"Item":` + item + `}`})
	if e, err := store.Endpoint(t.Context(), "acme", endpointID); hook.CodeOf(err) != hook.CodeNotFound || e.ID != "" {
		t.Errorf("Endpoint(another tenant's) = %v, %v; want not found", e, err)
	}
	if e, err := store.Endpoint(t.Context(), "globex", endpointID); err != nil || e.ID != endpointID {
		t.Errorf("Endpoint(the tenant's own) = %v, %v; want the endpoint", e, err)
	}

	_, store = newWire(t, answer{body: `{"Responses":{"table":[` + item + `]}}`})
	for tenant, want := range map[hook.TenantID]int{"acme": 0, "globex": 1} {
		got, err := store.Load(t.Context(), []hook.Task{hook.NewTask(tenant, delivery(0).Ref(), 1)})
		if err != nil || len(got.Endpoints) != want {
			t.Errorf("Load(task of %s) = %v, %v; want %d endpoints", tenant, got.Endpoints, err, want)
		}
	}

	w, store := newWire(t)
	w.reply = func(r request) answer {
		if r.op == "Query" {
			return answer{body: `{"Items":[{"pk":{"S":"tenant#acme"},"sk":{"S":"endpoint#ep_0123456789abcdef"}}]}`}
		}
		return answer{body: `{"Responses":{"table":[` + item + `]}}`}
	}
	if all, err := store.Endpoints(t.Context(), "acme"); err != nil || len(all) != 0 {
		t.Errorf("Endpoints(a row of another tenant's endpoint) = %v, %v; want none", all, err)
	}
}

func TestStore_Endpoints_ReadsTheListAndThenTheEndpoints(t *testing.T) {
	t.Parallel()

	w, store := newWire(t)
	w.reply = func(r request) answer {
		if r.op == "Query" {
			var rows []any
			for i := range 201 {
				rows = append(rows, map[string]any{"pk": s("tenant#acme"), "sk": s("endpoint#" + string(numbered(i)))})
			}
			return reply(map[string]any{"Items": rows})
		}
		keys, _ := r.body.at("RequestItems", "table", "Keys").([]any)
		var items []any
		for i := range slices.Backward(keys) { // DynamoDB answers in no particular order
			pk, _ := r.body.at("RequestItems", "table", "Keys", i, "pk", "S").(string)
			if id := strings.TrimPrefix(pk, "endpoint#"); id != string(numbered(7)) { // deleted meanwhile
				items = append(items, map[string]any{"pk": s(pk), "sk": s("endpoint"), "id": s(id), "tenant": s("acme")})
			}
		}
		return reply(map[string]any{"Responses": map[string]any{"table": items}})
	}
	all, err := store.Endpoints(t.Context(), "acme")
	var got, want []hook.EndpointID
	for _, e := range all {
		got = append(got, e.ID)
	}
	for i := range 201 {
		if i != 7 {
			want = append(want, numbered(i))
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("Endpoints() = %v, differs (-want +got):\n%s", err, diff)
	}
	sent := w.sent()
	if len(sent) != 4 || sent[0].op != "Query" || sent[0].body.at("ConsistentRead") != true {
		t.Fatalf("Endpoints() sent %v; want a consistent query and three batch reads", sent)
	}
	wantValues := map[string]any{":pk": s("tenant#acme"), ":from": s("endpoint#")}
	if diff := cmp.Diff(wantValues, sent[0].body.at("ExpressionAttributeValues")); diff != "" {
		t.Errorf("query of the list (-want +got):\n%s", diff)
	}
	for i, want := range []int{100, 100, 1} {
		read := sent[i+1].body
		keys, _ := read.at("RequestItems", "table", "Keys").([]any)
		if len(keys) != want || read.at("RequestItems", "table", "ConsistentRead") != true || read.at("RequestItems", "table", "Keys", 0, "sk", "S") != "endpoint" {
			t.Errorf("batch read %d = %v; want a consistent read of %d endpoints", i, read, want)
		}
	}
}

func TestStore_Load_RequestsUnprocessedKeysAgain(t *testing.T) {
	t.Parallel()

	left := `{"pk":{"S":"endpoint#ep_0123456789abcdef"},"sk":{"S":"endpoint"}}`
	item := `{"pk":{"S":"endpoint#ep_0123456789abcdef"},"sk":{"S":"endpoint"},"tenant":{"S":"acme"},"id":{"S":"ep_0123456789abcdef"},"version":{"N":"2"}}`
	w, store := newWire(t,
		answer{body: `{"Responses":{},"UnprocessedKeys":{"table":{"Keys":[` + left + `],"ConsistentRead":true}}}`},
		answer{body: `{"Responses":{"table":[` + item + `]}}`},
	)
	got, err := store.Load(t.Context(), []hook.Task{hook.NewTask("acme", delivery(0).Ref(), 1)})
	if err != nil || got.Endpoints[endpointID].Version != 2 {
		t.Errorf("Load() = %v, %v; want the endpoint of the second answer", got, err)
	}
	if len(w.sent()) != 2 {
		t.Fatalf("Load() sent %d requests; want 2", len(w.sent()))
	}
	keys, _ := w.sent()[1].body.at("RequestItems", "table", "Keys").([]any)
	if len(keys) != 1 || w.sent()[1].body.at("RequestItems", "table", "ConsistentRead") != true {
		t.Errorf("second request = %v; want a consistent read of one key", w.sent()[1].body)
	}
}

func TestStore_ExpiryTimesAreSeconds(t *testing.T) {
	t.Parallel()

	const want = "1775099045" // 90 days after epoch
	w, store := newWire(t)
	if err := store.PutEvent(t.Context(), event()); err != nil {
		t.Fatal(err)
	}
	if got := w.only(t).body.at("Item", names.ExpiresAt, "N"); got != want {
		t.Errorf("event has %s %v; want %s", names.ExpiresAt, got, want)
	}
	w, store = newWire(t)
	if err := store.SaveDelivery(t.Context(), delivery(0), longAttempt()); err != nil {
		t.Fatal(err)
	}
	for i, item := range []string{"delivery", "attempt"} {
		if got := w.only(t).body.at("TransactItems", i, "Put", "Item", names.ExpiresAt, "N"); got != want {
			t.Errorf("%s has %s %v; want %s", item, names.ExpiresAt, got, want)
		}
	}
}

func TestStore_PutEvent_CompressesWhenTheResultIsSmaller(t *testing.T) {
	t.Parallel()

	tests := []struct {
		name, payload string
		encoding      any
		most          int // bytes of the stored payload, in base64
	}{
		{name: "a compressible payload", payload: `[` + strings.Repeat(`{"k":1},`, 10_000) + `0]`, encoding: "zstd", most: 200},
		{name: "an incompressible payload", payload: `{"k":1}`, encoding: nil, most: 12},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			w, store := newWire(t)
			e := event()
			e.Payload = []byte(tt.payload)
			if err := store.PutEvent(t.Context(), e); err != nil {
				t.Fatal(err)
			}
			stored, _ := w.only(t).body.at("Item", "payload", "B").(string)
			if got := w.only(t).body.at("Item", "encoding", "S"); got != tt.encoding || stored == "" || len(stored) > tt.most {
				t.Errorf("stored payload has encoding %v and %d bytes; want %v and at most %d", got, len(stored), tt.encoding, tt.most)
			}
		})
	}
}

// TestStore_FirstTrySuccessIsOneWriteUnit checks that a delivery with a successful
// first attempt takes one write unit: at most 1 KB by the rules of "DynamoDB item
// sizes and formats" in the developer guide.
func TestStore_FirstTrySuccessIsOneWriteUnit(t *testing.T) {
	t.Parallel()

	d := delivery(0)
	d.Tenant = hook.TenantID(strings.Repeat("t", 36)) // the length of a UUID
	d.EventType = "subscription.payment_method.updated"
	d.State = hook.StateDelivered
	d.Last = hook.Outcome{
		Class: hook.ClassDelivered, Status: 200, Duration: 12_345_678_901,
		URL:  "https://hooks.customer-domain.example.com/integrations/surehook/v2/receive?account=0123456789abcdef",
		Body: []byte(strings.Repeat("x", hook.MaxLastBody)),
	}
	w, store := newWire(t)
	if err := store.SaveDelivery(t.Context(), d, nil); err != nil {
		t.Fatal(err)
	}
	item, _ := w.only(t).body.at("Item").(map[string]any)
	if size := attributesSize(item); size < 500 || size > 1024 {
		t.Errorf("delivery item has %d bytes; want 500 to 1024: %v", size, item)
	}
	for _, name := range []string{names.PartitionKey, names.SortKey, names.ExpiresAt} {
		if item[name] == nil {
			t.Errorf("delivery item has no %s: %v", name, item)
		}
	}
	// An index writes a row for each item with the index's keys.
	for _, name := range []string{names.ByEndpointRange, names.ByStateHash, names.ByStateRange, "replayed", "job", "job_index", "by", "note"} {
		if item[name] != nil {
			t.Errorf("delivery item has %s %v; want none for a success at the first attempt", name, item[name])
		}
	}
}

// A delivery is one write unit after two failures, and two after seven, with the headers of the profile
// standard, two headers of the owner and a short answer, which has another id each time.
func TestStore_FailuresAreFewWriteUnits(t *testing.T) {
	t.Parallel()

	d := delivery(0)
	d.Tenant, d.State, d.NextAttemptAt = hook.TenantID(strings.Repeat("t", 36)), hook.StateRetrying, epoch
	random := rand.New(rand.NewChaCha8([32]byte{}))
	hex := func() string { return fmt.Sprintf("%016x", random.Uint64()) }
	for number := 1; number <= 7; number++ {
		w, store := newWire(t)
		at := epoch.Add(time.Duration(random.IntN(1e9)))
		attempt := hook.Attempt{
			Delivery: d.Ref(), Number: number, Trigger: hook.TriggerRetry, StartedAt: at, NextAttemptAt: at.Add(time.Minute), ExpiresAt: d.ExpiresAt,
			Outcome: hook.Outcome{
				Class: hook.ClassUnavailable, Status: 503, Duration: time.Duration(random.IntN(1e9)), Error: "The endpoint answered 503 Service Unavailable.",
				URL: "https://hooks.customer-domain.example.com/integrations/surehook/v2/receive", Shape: "standard",
				Body:    []byte(`{"error":"down for maintenance","id":"` + hex() + `"}`),
				Headers: map[string]string{"Server": "nginx/1.25.3", "Content-Type": "application/json", "X-Request-Id": hex() + hex()},
				Phases:  hook.Phases{DNS: 1_234_567, Connect: 20_345_678, TLS: 40_456_789, FirstByte: time.Duration(random.IntN(1e9))},
				Sent: map[string]string{
					"Content-Type": "application/json", "User-Agent": "Surehook/0.1.0", "X-Webhook-Event": "subscription.updated", "Accept": "*/*",
					"X-Webhook-Delivery": d.ID.String(), "X-Webhook-Attempt": strconv.Itoa(number), "Webhook-Id": string(d.ID.Event), "Webhook-Timestamp": strconv.FormatInt(at.Unix(), 10),
					"Webhook-Signature": "v1," + hex()[:11] + hex() + hex() + "=", "Authorization": hook.Masked, "X-Environment": hook.Masked,
					"Traceparent": "00-725affb5918f8a538ae20ffcc3895dfc-" + hex() + "-02",
				},
			},
		}
		if err := store.SaveDelivery(t.Context(), d, &attempt); err != nil {
			t.Fatal(err)
		}
		d.Version, d.Recent = 0, append(d.Recent, attempt) // as a whole item
		item, _ := w.only(t).body.at("Item").(map[string]any)
		most := 1024
		if number > 2 {
			most = 2048
		}
		if size := attributesSize(item); size > most || size < most/2 {
			t.Errorf("after %d attempts the item has %d bytes; want at most %d", number, size, most)
		}
	}
}

// attributesSize returns the size of names and values in bytes.
func attributesSize(attributes map[string]any) int {
	size := 0
	for name, value := range attributes {
		typed, _ := value.(map[string]any)
		for kind, v := range typed {
			size += len(name) + valueSize(kind, v)
		}
	}
	return size
}

func valueSize(kind string, v any) int {
	switch v := v.(type) {
	case string:
		switch kind {
		case "S":
			return len(v)
		case "N": // one byte per two significant digits, and one byte
			return (len(strings.Trim(v, "0"))+1)/2 + 1
		case "B": // base64 in JSON
			return len(v) / 4 * 3
		}
	case map[string]any: // 3 bytes, and one byte per entry
		return 3 + len(v) + attributesSize(v)
	}
	panic(fmt.Sprintf("no rule for %s of %T", kind, v))
}

func TestStore_Select_ReadsOneRowMoreThanThePage(t *testing.T) {
	t.Parallel()

	const at = "#2026-01-02T03:04:05.678Z#" + string(eventID) + "#000"
	row := func(n int) string {
		return `{"pk":{"S":"endpoint#` + string(endpointID) + `#00"},"sk":{"S":"delivery` + at + strconv.Itoa(n) + `"},"endpoint_sk":{"S":"dead` + at + strconv.Itoa(n) + `"}}`
	}
	w, store := newWire(t,
		answer{body: `{"Items":[` + row(2) + "," + row(3) + `],"Count":2}`},
		answer{body: `{"Responses":{}}`}, // the delivery is gone
		answer{body: `{"Items":[],"Count":0}`},
	)
	selection := replay.Selection{Target: hook.Target{Endpoint: endpointID, Shards: 1}, State: hook.StateDead, Limit: 1}
	page, next, err := store.Select(t.Context(), selection)
	if err != nil || len(page) != 0 || next == "" {
		t.Fatalf("Select(limit 1) = %v, %q, %v; want an empty page and a cursor", page, next, err)
	}
	if limit := w.sent()[0].body.at("Limit"); limit != 2.0 {
		t.Errorf("Limit = %v; want 2", limit)
	}
	selection.After = next
	if _, _, err = store.Select(t.Context(), selection); err != nil {
		t.Fatal(err)
	}
	if from := w.sent()[2].body.at("ExpressionAttributeValues", ":from", "S"); from != "dead"+at+"2" {
		t.Errorf("the next page begins at %v; want the position of the last row shown", from)
	}
}

package dynamo_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"surehook.example/surehook/internal/admin/status"
	"surehook.example/surehook/internal/aws/dynamo"
	"surehook.example/surehook/internal/hook"
)

// recorded returns the item that a call writes.
func recorded(t *testing.T, call func(ctx context.Context, s *dynamo.Store) error) map[string]any {
	t.Helper()

	w, s := newWire(t)
	if err := call(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	for _, r := range w.sent() {
		if item, ok := r.body["Item"].(map[string]any); ok {
			return item
		}
		if writes, ok := r.body["TransactItems"].([]any); ok {
			for _, one := range writes {
				put, _ := one.(map[string]any)["Put"].(map[string]any)
				if item, ok := put["Item"].(map[string]any); ok {
					return item
				}
			}
		}
	}
	t.Fatal("nothing was written")
	return nil
}

func ofGlobex() hook.Delivery {
	d := delivery(0)
	d.ID.Endpoint, d.Tenant = "ep_fedcba9876543210", "globex"
	return d
}

func saving(d hook.Delivery) func(ctx context.Context, s *dynamo.Store) error {
	return func(ctx context.Context, s *dynamo.Store) error { return s.SaveDelivery(ctx, d, nil) }
}

func creating(ctx context.Context, s *dynamo.Store) error { return s.CreateEndpoint(ctx, endpoint("")) }

func savingCircuit(ctx context.Context, s *dynamo.Store) error { return s.SaveCircuit(ctx, record(0)) }

func said(s string) map[string]any { return map[string]any{"S": s} }

// encoded returns the answer.
func encoded(t *testing.T, v map[string]any) answer {
	t.Helper()

	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return answer{body: string(text)}
}

// reported returns the number of reports of unreadable records.
func reported(s *dynamo.Store) *int {
	n := new(int)
	s.Unreadable = func(context.Context, string, error) { *n++ }
	return n
}

// A record of a later build, met after a rollback or during a deployment, fails only the tasks
// that name it. So does a throttled partition.
func TestLoad_aFaultFailsItsTasksAlone(t *testing.T) {
	t.Parallel()

	mine, other := delivery(0), ofGlobex()
	mine.Last = hook.Outcome{Class: hook.ClassTimeout, Error: "no answer"}
	table := func(unprocessed string, items ...any) map[string]any {
		a := map[string]any{"Responses": map[string]any{"table": append(items, recorded(t, saving(other)))}}
		if unprocessed != "" {
			a["UnprocessedKeys"] = map[string]any{"table": map[string]any{"Keys": []any{
				map[string]any{"pk": said("endpoint#" + string(endpointID)), "sk": said(unprocessed)},
			}}}
		}
		return a
	}
	class := recorded(t, saving(mine))
	last, _ := class["last"].(map[string]any)
	outcome, _ := last["M"].(map[string]any)
	outcome["class"] = said("quantum")
	scheme := recorded(t, creating)
	scheme["schemes"] = map[string]any{"L": []any{said("v2")}}
	state := recorded(t, savingCircuit)
	state["state"] = said("warming")
	form := recorded(t, savingCircuit)
	form["version"] = said("two")
	for _, tt := range []struct {
		name     string
		answer   map[string]any
		want     hook.Code
		reported bool
	}{
		{name: "a class of a delivery", answer: table("", class), want: hook.CodeInternal, reported: true},
		{name: "a scheme of an endpoint", answer: table("", scheme), want: hook.CodeInternal, reported: true},
		{name: "a state of a circuit", answer: table("", state), want: hook.CodeInternal, reported: true},
		{name: "another form of an attribute", answer: table("", form), want: hook.CodeInternal, reported: true},
		{name: "an unprocessed circuit", answer: table("circuit"), want: hook.CodeUnavailable},
		{name: "an unprocessed endpoint", answer: table("endpoint"), want: hook.CodeUnavailable},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			_, s := newWire(t, encoded(t, tt.answer))
			n := reported(s)
			failed := mine.NextTask()
			snapshot, err := s.Load(t.Context(), []hook.Task{failed, other.NextTask()})
			if err != nil || snapshot.Deliveries[other.Ref()] == nil || len(snapshot.Faults) != 1 {
				t.Fatalf("Load() = %v, with the faults %v; want the records of the other task", err, snapshot.Faults)
			}
			if fault := snapshot.Faults[failed]; hook.CodeOf(fault) != tt.want || !strings.Contains(fault.Error(), string(endpointID)) {
				t.Errorf("fault of the task = %v; want %s with the record", fault, tt.want)
			}
			if tt.reported != (*n > 0) {
				t.Errorf("%d reports; want one: %t", *n, tt.reported)
			}
		})
	}
}

// Lists leave out such a record, and report it.
func TestLists_leaveOutRecordsOfLaterBuilds(t *testing.T) {
	t.Parallel()

	circuitRow := func(item map[string]any) map[string]any {
		return map[string]any{"pk": item["pk"], "sk": item["sk"], "state_pk": item["state_pk"], "state_sk": item["state_sk"]}
	}
	bad := recorded(t, savingCircuit)
	bad["state"] = said("warming")
	good := recorded(t, func(ctx context.Context, s *dynamo.Store) error {
		other := record(0)
		other.Endpoint, other.Tenant = "ep_fedcba9876543210", "globex"
		return s.SaveCircuit(ctx, other)
	})
	poisoned := recorded(t, saving(delivery(0)))
	poisoned["state"] = said("dreaming")
	healthy := recorded(t, saving(ofGlobex()))
	circuits := map[string]any{"Items": []any{circuitRow(bad), circuitRow(good)}, "Responses": map[string]any{"table": []any{bad, good}}}
	deliveries := map[string]any{"Items": []any{poisoned, healthy}, "Responses": map[string]any{"table": []any{poisoned, healthy}}}
	job1, job2 := recorded(t, func(ctx context.Context, s *dynamo.Store) error { return s.SaveJob(ctx, job(0)) }), map[string]any{"state": said("asleep")}
	for _, tt := range []struct {
		name   string
		answer map[string]any
		list   func(s *dynamo.Store) (int, error)
		want   int
	}{
		{name: "due circuits", answer: circuits, want: 16, list: func(s *dynamo.Store) (int, error) {
			list, err := s.DueCircuits(t.Context(), epoch.Add(time.Hour), 100)
			return len(list), err
		}},
		{name: "circuits of endpoints", answer: circuits, want: 1, list: func(s *dynamo.Store) (int, error) {
			list, err := s.CircuitsOf(t.Context(), []hook.EndpointID{endpointID, "ep_fedcba9876543210"})
			return len(list), err
		}},
		{name: "overdue deliveries", answer: deliveries, want: 64, list: func(s *dynamo.Store) (int, error) {
			list, err := s.Overdue(t.Context(), hook.StateRetrying, time.Time{}, epoch.Add(time.Hour), 100)
			return len(list), err
		}},
		{name: "replay jobs", answer: map[string]any{"Items": []any{job1, job2}}, want: 1, list: func(s *dynamo.Store) (int, error) {
			list, err := s.Jobs(t.Context(), "acme", "", 10)
			return len(list), err
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			_, s := newWire(t, encoded(t, tt.answer))
			n := reported(s)
			if got, err := tt.list(s); err != nil || got != tt.want || *n == 0 {
				t.Errorf("list of %d records, %v, with %d reports; want %d, and a report", got, err, *n, tt.want)
			}
		})
	}
}

// A look at rows of later builds alone finds none, and says where the next look begins.
func TestStore_DeliveryRows_ofALaterBuild(t *testing.T) {
	t.Parallel()

	d := delivery(0)
	item := recorded(t, saving(d))
	item["state"] = said("dreaming")
	_, s := newWire(t, encoded(t, map[string]any{"Items": []any{item}, "LastEvaluatedKey": map[string]any{"pk": item["pk"], "sk": item["sk"]}}))
	rows, last, err := s.DeliveryRows(t.Context(), status.Part{Endpoint: d.ID.Endpoint}, status.Span{}, 1)
	if want := (status.Position{At: d.AcceptedAt, DeliveryID: d.ID}); err != nil || len(rows) > 0 || last == nil || *last != want {
		t.Errorf("DeliveryRows() = %v, %v, %v; want no row, and %v", rows, last, err, want)
	}
}

// An endpoint with a word of a later build still gets its events. They wait in the queue, and an
// unwanted task does less harm than a missing one.
func TestListing_keepsEndpointsOfLaterBuilds(t *testing.T) {
	t.Parallel()

	item := recorded(t, creating)
	item["schemes"] = map[string]any{"L": []any{said("v2")}}
	w, s := newWire(t)
	n := reported(s)
	w.reply = func(r request) answer {
		switch r.op {
		case "Query":
			row := map[string]any{"pk": said("tenant#acme"), "sk": said("endpoint#" + string(endpointID)), "id": said(string(endpointID)), "status": item["status"]}
			return encoded(t, map[string]any{"Items": []any{row}})
		case "GetItem":
			return encoded(t, map[string]any{"Item": map[string]any{"version": map[string]any{"N": "4"}}})
		}
		return encoded(t, map[string]any{"Responses": map[string]any{"table": []any{item}}})
	}
	l, err := s.Listing(t.Context(), "acme")
	if err != nil || len(l.Endpoints) != 1 || l.Endpoints[0].ID != endpointID || *n != 0 {
		t.Errorf("Listing() = %+v, %v, with %d reports; want the endpoint, of which it reads no such word", l, err, *n)
	}
	all, err := s.Endpoints(t.Context(), "acme")
	if err != nil || len(all) != 1 {
		t.Errorf("Endpoints() = %+v, %v; want the endpoint", all, err)
	}
}

// A delivery of a later build does not count as missing.
func TestDeliveriesByRef_keepsDeliveriesOfLaterBuilds(t *testing.T) {
	t.Parallel()

	item := recorded(t, saving(delivery(0)))
	item["state"] = said("dreaming")
	_, s := newWire(t, encoded(t, map[string]any{"Responses": map[string]any{"table": []any{item}}}))
	ref := delivery(0).Ref()
	found, err := s.DeliveriesByRef(t.Context(), []hook.DeliveryRef{ref})
	if d, ok := found[ref]; err != nil || len(found) != 1 || !ok || d.State != 0 || d.Version != 0 {
		t.Errorf("DeliveriesByRef() = %+v, %v; want the delivery without a state", found, err)
	}
}

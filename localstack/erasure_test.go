//go:build e2e

package localstack_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"surehook.example/surehook/internal/names"
	"surehook.example/surehook/localstack/receiver"
)

// erasureLimit bounds the wait for an erasure: up to six minutes of pauses, beside the
// other tests. The test reads the job each erasurePoll.
const (
	erasureLimit = 12 * time.Minute
	erasurePoll  = 5 * time.Second
)

// estate is a tenant with deliveries in several states. The ids stand in items that do
// not name the tenant.
type estate struct {
	*bench

	ids       []string // of endpoints, events and the replay
	delivered string   // a delivery
	key       string
}

// TestAnErasedTenantIsGone erases a tenant, and reads the whole table. Another tenant's
// name begins with the name of the tenant.
func TestAnErasedTenantIsGone(t *testing.T) {
	t.Parallel()

	b := setup(t)
	neighbour := *b
	neighbour.tenant += "2"
	erased, kept := furnish(b), furnish(&neighbour)
	before := keptItems(b, neighbour.tenant)

	b.renew()
	var job struct {
		ID      string         `json:"id"`
		State   string         `json:"state"`
		Removed map[string]int `json:"removed"`
	}
	b.call(http.MethodDelete, "", nil, http.StatusAccepted, &job)
	b.refusedAs(http.StatusConflict, "tenant_closing", "/events", []byte(`{"event_type": "t", "payload": 1}`))
	ctx, cancel := context.WithTimeoutCause(t.Context(), erasureLimit, errTooLong)
	t.Cleanup(cancel)
	b.ctx = ctx
	for job.State != "finished" {
		select {
		case <-time.After(erasurePoll):
			b.call(http.MethodGet, "/erasures/"+job.ID, nil, http.StatusOK, &job)
		case <-ctx.Done():
			t.Fatalf("the erasure is %+v: %v", job, context.Cause(ctx))
		}
	}
	t.Logf("removed %v", job.Removed)

	b.renew()
	for _, it := range b.items() {
		// The records of changes and the job stay, and the neighbour's name contains the tenant's.
		own := strings.ReplaceAll(it.text, neighbour.tenant, "")
		of := func(id string) bool { return strings.Contains(own, id) }
		stays := strings.HasPrefix(it.key, "audit#") || strings.HasPrefix(it.key, "erasure#"+b.tenant+" ")
		if !stays && (of(b.tenant) || slices.ContainsFunc(erased.ids, of)) {
			t.Errorf("the erasure left %s: %s", it.key, it.text)
		}
	}
	after := keptItems(b, neighbour.tenant)
	if lost := slices.DeleteFunc(before, func(key string) bool { return slices.Contains(after, key) }); len(lost) > 0 {
		t.Errorf("the erasure removed %v of tenant %s", lost, neighbour.tenant)
	}
	b.wantKey(erased.key, false)
	b.wantKey(kept.key, true)
	b.call(http.MethodGet, "/deliveries/"+erased.delivered, nil, http.StatusNotFound, nil)

	for _, each := range []*bench{b, &neighbour} {
		each.renew()
		each.endpoint("anew", map[string]any{"event_types": []string{"anew"}})
		accepted := each.post("anew", `{}`)
		each.await(each.one(accepted), "delivered")
		if got := each.arrivals("anew", 1)[0]; got.Header.Get("Webhook-Id") != accepted.ID || !got.Genuine() {
			t.Errorf("request = %+v; want event %s, well signed", got.Header, accepted.ID)
		}
	}
}

// furnish gives the tenant of b a key, a replay, an event without a target, and deliveries
// that are delivered, dead, parked, scheduled, and of a deleted endpoint.
func furnish(b *bench) estate {
	b.Helper()
	b.renew()
	e := estate{bench: b}
	e.ids = append(e.ids, b.post("nobody", `{}`).ID)
	one := func(name, state string, settings map[string]any, replies ...receiver.Reply) (endpoint, delivery string) {
		settings["event_types"], settings["circuit"] = []string{name}, stubborn()
		made := b.endpoint(name, settings, replies...)
		if state == "parked" {
			b.call(http.MethodPost, "/endpoints/"+made.ID+"/pause", nil, http.StatusOK, nil)
		}
		accepted := b.post(name, `{"personal": "data"}`)
		delivery = b.one(accepted)
		b.await(delivery, state)
		e.ids = append(e.ids, made.ID, accepted.ID)
		return made.ID, delivery
	}
	_, e.delivered = one("good", "delivered", map[string]any{})
	one("parked", "parked", map[string]any{})
	one("scheduled", "retrying", map[string]any{"retry": schedule("16m")}, receiver.Status(http.StatusServiceUnavailable))
	deleted, _ := one("deleted", "delivered", map[string]any{})
	b.call(http.MethodDelete, "/endpoints/"+deleted, nil, http.StatusNoContent, nil)
	dead, _ := one("dead", "dead", map[string]any{}, receiver.Status(http.StatusBadRequest))

	var replayed job
	b.call(http.MethodPost, "/replays", map[string]any{"filter": map[string]any{"endpoint": dead}, "rate_per_second": 10}, http.StatusAccepted, &replayed)
	b.until("the replay is finished, and its delivery is dead", func() bool {
		b.call(http.MethodGet, "/replays/"+replayed.ID, nil, http.StatusOK, &replayed)
		return replayed.State == "finished" && replayed.Dead == 1
	})
	var key struct {
		ID string `json:"id"`
	}
	in := map[string]any{"name": "a key", "tenant": b.tenant, "scopes": []string{"read"}}
	if err := world.api.Call(b.ctx, http.MethodPost, "/v1/keys", in, http.StatusCreated, &key); err != nil {
		b.Fatal(err)
	}
	e.key = key.ID
	e.ids = append(e.ids, replayed.ID, key.ID)
	return e
}

// wantKey checks whether the API key exists.
func (b *bench) wantKey(id string, want bool) {
	b.Helper()
	got := slices.ContainsFunc(b.items(), func(it item) bool { return it.key == "keys key#"+id })
	if got != want {
		b.Errorf("key %s exists: %t; want %t", id, got, want)
	}
}

// item is an item of the table: the primary key, and all attributes as text.
type item struct{ key, text string }

// items returns all items of the table.
func (b *bench) items() (all []item) {
	b.Helper()
	pages := dynamodb.NewScanPaginator(dynamodb.NewFromConfig(world.stack.AWS), &dynamodb.ScanInput{
		TableName: &world.stack.TableName, ConsistentRead: aws.Bool(true),
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(b.ctx)
		if err != nil {
			b.Fatal(err)
		}
		for _, attributes := range page.Items {
			var fields map[string]any
			if err := attributevalue.UnmarshalMap(attributes, &fields); err != nil {
				b.Fatal(err)
			}
			all = append(all, item{fmt.Sprintf("%v %v", fields[names.PartitionKey], fields[names.SortKey]), fmt.Sprint(fields)})
		}
	}
	return all
}

// keptItems returns the keys of the items with the tenant's name.
func keptItems(b *bench, tenant string) (keys []string) {
	b.Helper()
	for _, it := range b.items() {
		if strings.Contains(it.text, tenant) {
			keys = append(keys, it.key)
		}
	}
	return keys
}
